// How long a GEMM takes, from C++.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <hw/sheet.hpp>
#include <model/analytical/engine.hpp>
#include <workloads/predict.hpp>

int main() {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto engine = warptime::model::analytical::make_engine();
    warptime::workloads::Predictor predictor(*engine, gpu);
    const auto gemm =
        warptime::workloads::make_operation("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}});
    std::printf("%.17g us\n", predictor.evaluate(gemm, {}).time * 1e6);
}
