// Instruction fetch: nothing for code in the nearest cache, then one rate for each further place.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/instruction_fetch.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using warptime::model::machine::fetch_interval;
using warptime::model::machine::first_fetch_interval;
using warptime::model::machine::jump_cycles;
using warptime::model::machine::overflowing;

namespace {

hw::Gpu chip() {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.code.near_instructions = hw::Number(10000.0);
    gpu.code.far_instructions = hw::Number(20000.0);
    gpu.code.far_interval = hw::Cycles(2.0);
    gpu.code.l2_interval = hw::Cycles(5.0);
    gpu.code.dram_interval = hw::Cycles(11.0);
    gpu.code.near_ways = hw::Number(16.0);
    gpu.cache.ways = hw::Number(4.0);
    gpu.code.kept_instructions = hw::Number(4700.0);
    gpu.code.other_instructions = hw::Number(400.0);
    gpu.code.sharing_warps = hw::Number(2.0);
    gpu.code.lone_interval = hw::Cycles(3.0);
    gpu.code.nearest_instructions = hw::Number(300.0);
    gpu.code.jump = hw::Cycles(7.0);
    return gpu;
}

}  // namespace

TEST_CASE("a set with one line too many loses all of its lines") {
    // 64 lines in 16 sets of 4: one more line takes five away, sixteen more lines take all.
    CHECK(overflowing(64.0, 64.0, 4.0) == 0.0);
    CHECK(overflowing(65.0, 64.0, 4.0) == doctest::Approx(5.0 / 65.0));
    CHECK(overflowing(72.0, 64.0, 4.0) == doctest::Approx(40.0 / 72.0));
    CHECK(overflowing(80.0, 64.0, 4.0) == 1.0);
    CHECK(overflowing(200.0, 64.0, 4.0) == 1.0);
}

TEST_CASE("code costs what the cache that holds it takes for an instruction") {
    const auto gpu = chip();
    CHECK(fetch_interval(10000.0, {1.0}, gpu).value() == 0.0);
    // A sixth is missing; the other instructions pass at one a cycle.
    CHECK(fetch_interval(10100.0, {1.0}, gpu).value() == doctest::Approx(1.0 + 1700.0 / 10100.0));
    CHECK(fetch_interval(15000.0, {1.0}, gpu).value() == doctest::Approx(2.0));
    CHECK(fetch_interval(47000.0, {1.0}, gpu).value() == doctest::Approx(5.0));
    // Two warps of a sub-partition stay together; more warps fetch again from the far cache.
    CHECK(fetch_interval(15000.0, {2.0}, gpu).value() == doctest::Approx(2.0));
    CHECK(fetch_interval(15000.0, {4.0}, gpu).value() == doctest::Approx(4.0));
    CHECK(fetch_interval(47000.0, {4.0}, gpu).value() == doctest::Approx(5.0));
    // A warp that is a CTA of its own fetches more slowly from the far cache. From the L2 it fetches at full
    // rate.
    CHECK(fetch_interval(15000.0, {0.25, true}, gpu).value() == doctest::Approx(3.0));
    CHECK(fetch_interval(47000.0, {0.25, true}, gpu).value() == doctest::Approx(5.0));
}

TEST_CASE("a jump within what the nearest cache holds takes its latency alone") {
    const auto gpu = chip();
    CHECK(jump_cycles(300.0, gpu).value() == 0.0);
    CHECK(jump_cycles(301.0, gpu).value() == 7.0);
}

TEST_CASE("a launch finds the beginning of a long text, and a flush takes a little of it") {
    const auto gpu = chip();
    CHECK(first_fetch_interval(9000.0, {1.0}, true, gpu).value() == 0.0);
    CHECK(first_fetch_interval(10000.0, {1.0}, true, gpu).value() == 0.0);
    CHECK(first_fetch_interval(15000.0, {1.0}, false, gpu).value() == doctest::Approx(2.0));
    // A tenth of the text is still there.
    CHECK(first_fetch_interval(47000.0, {1.0}, false, gpu).value() == doctest::Approx(0.1 * 2.0 + 0.9 * 5.0));
    CHECK(first_fetch_interval(47000.0, {1.0}, true, gpu).value() == doctest::Approx(0.1 * 2.0 + 0.9 * 11.0));
    // Code that another kernel displaces from the far cache comes from DRAM.
    CHECK(first_fetch_interval(20000.0, {1.0}, true, gpu).value() ==
          doctest::Approx(2.0 + 9.0 * 400.0 * 5.0 / 20400.0));
}
