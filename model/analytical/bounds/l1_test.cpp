// The L1 data path: requests times their interval.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/bounds/l1.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

TEST_CASE("every warp-wide request takes one interval") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.request_interval = warptime::hw::Cycles<double>(6.0);
    CHECK(warptime::model::analytical::l1_cycles(50.0, gpu).value() == doctest::Approx(300.0));
    CHECK(warptime::model::analytical::l1_cycles(0.0, gpu).value() == 0.0);
}
