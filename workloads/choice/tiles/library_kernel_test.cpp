// The library's kernel beside the tiles equals the kernel of predict.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/library_kernel.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads;
using choice::tiles::library_kernel;

TEST_CASE("the library's kernel is predict's, whatever tile the operation has") {
    const auto engine = warptime::model::analytical::make_engine();
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const std::map<std::string, std::string, std::less<>> problem{
        {"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"dtype", "bf16"}};
    auto tiled = problem;
    tiled.insert({{"cta_tile", "64x64x64"}, {"implementation", "triton"}});
    Predictor predictor(*engine, gpu);
    const double predicted = predictor.evaluate(make_operation("gemm", problem), {}).time;
    for (const auto& given : {problem, tiled}) {
        const auto found = library_kernel(make_operation("gemm", given), *engine, *engine, gpu, {});
        REQUIRE(found);
        CHECK(found->time == predicted);
        CHECK(found->candidate.config.cta_m >= 64);
    }
}

TEST_CASE("a type that a GPU's tensor cores lack names no kernel") {
    const auto engine = warptime::model::analytical::make_engine();
    const auto gpu = warptime::hw::load_gpu("t4");
    const auto operation =
        make_operation("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"dtype", "tf32"}});
    CHECK_FALSE(library_kernel(operation, *engine, *engine, gpu, {}));
}
