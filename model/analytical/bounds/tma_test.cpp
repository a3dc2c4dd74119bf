// The bulk copy engine: rows times their interval.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/bounds/tma.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

TEST_CASE("short rows cost as much as long ones") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.tma.row_interval = warptime::hw::Cycles<double>(2.5);
    CHECK(warptime::model::analytical::tma_cycles(64.0, gpu).value() == doctest::Approx(160.0));
}
