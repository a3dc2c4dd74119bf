// Fetching code: nothing for what the nearest cache holds, then one rate for each place it comes from.
// SPDX-License-Identifier: Apache-2.0
#include "model/memory/instruction_fetch.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using warptime::model::memory::fetch_cycles;
using warptime::model::memory::first_fetch_cycles;

TEST_CASE("code costs what the cache that holds it takes for an instruction") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.code.near_instructions = hw::Number<double>(100.0);
    gpu.code.far_instructions = hw::Number<double>(1000.0);
    gpu.code.far_interval = hw::Cycles<double>(2.0);
    gpu.code.l2_interval = hw::Cycles<double>(5.0);
    gpu.code.dram_interval = hw::Cycles<double>(11.0);
    CHECK(fetch_cycles(100.0, gpu).value() == 0.0);
    CHECK(fetch_cycles(101.0, gpu).value() == doctest::Approx(202.0));
    CHECK(fetch_cycles(1000.0, gpu).value() == doctest::Approx(2000.0));
    CHECK(fetch_cycles(1001.0, gpu).value() == doctest::Approx(5005.0));
    // A flush of the L2 is felt by what came from there.
    CHECK(first_fetch_cycles(1000.0, gpu).value() == 0.0);
    CHECK(first_fetch_cycles(2000.0, gpu).value() == doctest::Approx(12000.0));
}
