// SMs at work in the fullest GPC, against launches whose SMs were read on an H200.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/groups_at_work.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;

TEST_CASE("CTAs fill the single TPCs and then the groups in turn") {
    const auto gpu = hw::load_gpu("h200-sxm");
    // SMs by %smid: eight single TPCs, then one SM a TPC, then the second SMs.
    CHECK(machine::fullest_group(gpu, 4, 1) == 4.0);
    CHECK(machine::fullest_group(gpu, 8, 1) == 8.0);
    CHECK(machine::fullest_group(gpu, 16, 1) == 9.0);
    CHECK(machine::fullest_group(gpu, 33, 1) == 12.0);
    CHECK(machine::fullest_group(gpu, 66, 1) == 12.0);
    CHECK(machine::fullest_group(gpu, 99, 1) == 16.0);
    CHECK(machine::fullest_group(gpu, 132, 1) == 18.0);
}

TEST_CASE("a cluster stays in one group") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(machine::fullest_group(gpu, 16, 16) == 16.0);
    CHECK(machine::fullest_group(gpu, 8, 8) == 8.0);
    CHECK(machine::fullest_group(gpu, 32, 16) == 16.0);
}

TEST_CASE("where nobody has looked the groups share alike") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.cluster.groups.assign(1, hw::Number(0.0));
    CHECK(machine::largest_group(gpu) == 16.5);
    CHECK(machine::fullest_group(gpu, 8, 1) == 1.0);
    CHECK(machine::fullest_group(gpu, 66, 1) == 9.0);
    CHECK(machine::fullest_group(gpu, 4, 4) == 4.0);
}
