// Issue slots: instructions over the sub-partitions, a quarter each.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/issue.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

TEST_CASE("each sub-partition issues one warp-instruction a cycle") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    CHECK(warptime::model::machine::issue_cycles(400.0, gpu).value() == doctest::Approx(100.0));
    gpu.sm.sub_partitions = warptime::hw::Number(2.0);
    CHECK(warptime::model::machine::issue_cycles(400.0, gpu).value() == doctest::Approx(200.0));
    CHECK(warptime::model::machine::issue_cycles(0.0, gpu).value() == 0.0);
}
