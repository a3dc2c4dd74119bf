// Warps of an SM that put a CTA out of step.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/others_on_sm.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model::machine;

namespace {

mk::Kernel by_boxes(std::int32_t stages) {
    mk::Kernel kernel;
    mk::examples::WarpSpecializedGemm problem;
    problem.stages = stages;
    mk::examples::warp_specialized_gemm(kernel, problem);
    return kernel;
}

}  // namespace

TEST_CASE("boxes of whole lines are told from those of shorter rows") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel = by_boxes(4);
    CHECK(boxes_of_lines(kernel, gpu));
    for (mk::Access& access : kernel.accesses) access.box[0] /= 2;
    CHECK_FALSE(boxes_of_lines(kernel, gpu));
    CHECK_FALSE(boxes_of_lines(mk::Kernel{}, gpu));
}

TEST_CASE("more stages keep boxes of whole lines in step, and put copies of lanes out of it") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto others = [&](std::int32_t stages, bool bulk, double residents) {
        return others_on_sm(by_boxes(stages), 8, bulk, residents, gpu);
    };
    for (const bool bulk : {true, false}) {
        CHECK(others(4, bulk, 1.0) == 0.0);
        CHECK(others(2, bulk, 3.0) == doctest::Approx(2.0 * others(2, bulk, 2.0)));
    }
    CHECK(others(2, false, 2.0) == doctest::Approx(8.0));
    CHECK(others(4, false, 2.0) == doctest::Approx(16.0));
    CHECK(others(2, true, 2.0) == doctest::Approx(2.0));
    CHECK(others(4, true, 2.0) == doctest::Approx(1.0));
}
