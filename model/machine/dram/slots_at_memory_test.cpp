// Turns of slots against their equation and their limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/slots_at_memory.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using warptime::model::machine::exposed_share;
using warptime::model::machine::in_seconds;
using warptime::model::machine::slots_at_memory;
using warptime::model::machine::SlotTurn;
using warptime::model::machine::WaitsOfTurn;

namespace {

SlotTurn turn_of(double resident, double own, double elsewhere, double exposed, double turns) {
    SlotTurn turn;
    turn.together = resident * own;
    turn.own = own;
    turn.elsewhere = elsewhere;
    turn.exposed = exposed;
    turn.turns = turns;
    return turn;
}

}  // namespace

TEST_CASE(
    "CTAs in step add their waits to what they compute together, and no turn is shorter than a lone one") {
    CHECK(slots_at_memory(turn_of(4.0, 10.0, 30.0, 1.0, 5.0), {}) == doctest::Approx(5.0 * 70.0));
    CHECK(slots_at_memory(turn_of(4.0, 10.0, 30.0, 0.5, 5.0), {}) == doctest::Approx(5.0 * 55.0));
    CHECK(slots_at_memory(turn_of(2.0, 10.0, 30.0, 0.1, 5.0), {}) == doctest::Approx(5.0 * 40.0));
}

TEST_CASE("a part of the slots takes one turn more, and nothing comes behind the last CTA") {
    SlotTurn turn = turn_of(4.0, 10.0, 30.0, 1.0, 5.0);
    turn.last = 20.0;
    turn.vacant = 4.0;
    CHECK(slots_at_memory(turn, {}) == doctest::Approx(5.0 * 70.0 + 50.0 - 4.0));
}

TEST_CASE("the time satisfies its equation, with the waits at the utilisation that it leaves") {
    const SlotTurn turn = turn_of(4.0, 10.0, 30.0, 0.7, 5.0);
    for (const double memory : {20.0, 200.0, 290.0, 600.0}) {
        CAPTURE(memory);
        const WaitsOfTurn waits{3.0, 40.0, memory, 0.4 * memory};
        const double time = slots_at_memory(turn, waits);
        const double busy = memory / time;
        const double wait = 3.0 * busy / (1.0 - busy) + 40.0 * 0.4 * busy;
        CHECK(time > memory);
        const double one = std::max(40.0 + 0.7 * (30.0 + wait), 40.0 + wait);
        CHECK(time == doctest::Approx(5.0 * one).epsilon(2e-3));
    }
}

TEST_CASE("where DRAM is far busier than the SMs its time counts alone") {
    const double memory = 10000.0;
    const double time = slots_at_memory(turn_of(4.0, 10.0, 30.0, 1.0, 5.0), {3.0, 40.0, memory, 0.0});
    CHECK(time > memory);
    CHECK(time < 1.01 * memory);
}

TEST_CASE("more bytes and longer waits never make turns shorter") {
    const SlotTurn turn = turn_of(8.0, 10.0, 50.0, 0.6, 7.0);
    double before = slots_at_memory(turn, {});
    for (const double memory : {10.0, 100.0, 500.0, 900.0, 2000.0}) {
        const double time = slots_at_memory(turn, {3.0, 40.0, memory, 0.5 * memory});
        CHECK(time > before);
        CHECK(time < slots_at_memory(turn, {6.0, 40.0, memory, 0.5 * memory}));
        CHECK(time < slots_at_memory(turn, {3.0, 80.0, memory, 0.5 * memory}));
        before = time;
    }
}

TEST_CASE("times scale with their unit") {
    const SlotTurn turn = turn_of(4.0, 10.0, 30.0, 0.7, 5.0);
    const double cycles = slots_at_memory(turn, {3.0, 40.0, 200.0, 80.0});
    const double halves = slots_at_memory(in_seconds(turn, 0.5), {1.5, 20.0, 100.0, 40.0});
    CHECK(halves == doctest::Approx(0.5 * cycles).epsilon(1e-4));
}

TEST_CASE("few warps that load once expose all of their waits, and each round parts them") {
    const auto gpu = warptime::hw::load_gpu("h100-sxm");
    const double half = gpu.overlap.in_step.value();
    CHECK(exposed_share(0.0, 1.0, gpu) == 1.0);
    CHECK(exposed_share(half, 1.0, gpu) == doctest::Approx(0.5));
    CHECK(exposed_share(half / 4.0, 4.0, gpu) == doctest::Approx(0.5));
    CHECK(exposed_share(16.0, 2.0, gpu) < exposed_share(16.0, 1.0, gpu));
    CHECK(exposed_share(16.0, 0.2, gpu) == exposed_share(16.0, 1.0, gpu));
}
