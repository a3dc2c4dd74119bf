// Bulk copy engine: rows times their interval.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/bulk/tma.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

TEST_CASE("short rows cost as much as long ones") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.tma.row_interval = warptime::hw::Cycles(2.5);
    CHECK(warptime::model::machine::tma_cycles(64.0, gpu).value() == doctest::Approx(160.0));
}
