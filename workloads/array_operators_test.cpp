// Operators over arrays from name to time: evaluate and explain agree, bandwidth holds, and ideal kernels
// win.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/engine.hpp"
#include "workloads/operations_fixture_test.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace hw = warptime::hw;
namespace prediction = warptime::model::prediction;
using namespace warptime::workloads;

namespace {

const hw::Gpu& h200() {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    return gpu;
}

Predictor& predictor() {
    static const auto engine = warptime::model::analytical::make_engine();
    static Predictor on_h200(*engine, h200());
    return on_h200;
}

/// Sizes of 32 Mi elements and more, which no cache holds.
fixture::Parameters large(const OperatorInfo& info) {
    fixture::Parameters sizes;
    for (const ParameterInfo& parameter : info.parameters) {
        if (!parameter.required) continue;
        const bool flat = parameter.name == "n";
        const bool cube = info.name == "stencil3d";
        sizes[std::string(parameter.name)] = flat                       ? "67108864"
                                             : parameter.name == "rows" ? "16384"
                                             : parameter.name == "cols" ? "4096"
                                             : cube                     ? "512"
                                                                        : "8192";
    }
    if (info.name.starts_with("embedding")) sizes["indices"] = "16384";
    return sizes;
}

bool is_over_arrays(const OperatorInfo& info) {
    const bool over_batches =
        find_parameter(info, "batch") != nullptr || find_parameter(info, "experts") != nullptr;
    const bool between_devices = find_parameter(info, "bytes") != nullptr;
    return !info.tiled && !over_batches && !between_devices && info.parameters.front().name != "file";
}

}  // namespace

TEST_CASE("evaluate and explain agree on every operator over arrays") {
    for (const OperatorInfo& info : operators()) {
        if (!is_over_arrays(info)) continue;
        CAPTURE(std::string(info.name));
        const Operation operation = make_operation(info.name, large(info));
        const double time = predictor().evaluate(operation, {}).time;
        const prediction::Prediction explained = predictor().explain(operation, {});
        CHECK(explained.time == time);
        CHECK(std::isfinite(time));
    }
}

TEST_CASE("no operator moves its bytes faster than the memory of the chip") {
    for (const OperatorInfo& info : operators()) {
        if (!is_over_arrays(info)) continue;
        for (const char* implementation : {"torch", "ideal"}) {
            if (find_parameter(info, "implementation") == nullptr) continue;
            CAPTURE(std::string(info.name));
            fixture::Parameters given = large(info);
            given["implementation"] = implementation;
            const Operation operation = make_operation(info.name, given);
            const double bytes = info.work(operation).bytes;
            const double time = predictor().evaluate(operation, {}).time;
            // Embeddings take rows several times, and an L2 of 50 MB keeps a part of what is written.
            const double kept =
                info.name.starts_with("embedding") || info.name.ends_with("_rows") ? 0.5 : 0.15;
            CHECK(bytes / time < h200().dram.bandwidth.value() * (1.0 + kept));
        }
    }
}

TEST_CASE("an ideal kernel takes no longer than PyTorch's kernels") {
    for (const OperatorInfo& info : operators()) {
        if (!is_over_arrays(info) || find_parameter(info, "implementation") == nullptr) continue;
        CAPTURE(std::string(info.name));
        fixture::Parameters given = large(info);
        const double torch = predictor().evaluate(make_operation(info.name, given), {}).time;
        given["implementation"] = "ideal";
        const double ideal = predictor().evaluate(make_operation(info.name, given), {}).time;
        // A copy by the driver is faster than any kernel that is described.
        CHECK(ideal <= torch * (info.name == "copy" ? 1.1 : 1.03));
    }
}

TEST_CASE("PyTorch's matrix by a vector is the library's product of one row") {
    for (const char* dtype : {"bf16", "fp32"}) {
        const double vector =
            predictor()
                .evaluate(make_operation("gemv", {{"rows", "4096"}, {"cols", "14336"}, {"dtype", dtype}}), {})
                .time;
        const double product =
            predictor()
                .evaluate(
                    make_operation("gemm", {{"m", "1"}, {"n", "4096"}, {"k", "14336"}, {"dtype", dtype}}), {})
                .time;
        CHECK(vector == product);
    }
}
