// Wait of those who follow the first to ask for a line: its limits, and how it changes.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/followers.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace machine = warptime::model::machine;
namespace hw = warptime::hw;
using hw::Cycles;

TEST_CASE("who asks alone, or goes in rounds that do not differ, waits all of the time") {
    const Cycles l2(300.0);
    const Cycles dram(900.0);
    CHECK(machine::wait_of_followers(1.0, Cycles(100.0), l2, dram) == 1.0);
    CHECK(machine::wait_of_followers(4096.0, Cycles{}, l2, dram) == 1.0);
    // Rounds that differ by more than the wait part all but the first.
    CHECK(machine::wait_of_followers(64.0, Cycles(1000.0), l2, dram) == 0.0);
    // There is nothing to wait for beyond what all wait for.
    CHECK(machine::wait_of_followers(1.0, Cycles{}, dram, dram) == 0.0);
    CHECK(machine::wait_of_followers(1.0, Cycles{}, dram, l2) == 0.0);
}

TEST_CASE("followers lag by the spread times the largest of so many normal variables") {
    const double lag = 50.0 * machine::largest_of_normal(132.0);
    CHECK(machine::wait_of_followers(132.0, Cycles(50.0), Cycles(300.0), Cycles(900.0)) ==
          doctest::Approx(1.0 - lag / 600.0));
    // Expected largest of 132: 2.6 (tables of order statistics).
    CHECK(lag == doctest::Approx(50.0 * 2.6).epsilon(0.05));
}

TEST_CASE("more sharers and wider rounds never wait longer, a farther memory never less") {
    CHECK(rc::check("two of each", [] {
        const auto between = [](int most) { return 0.01 * *rc::gen::inRange(0, 100 * most + 1); };
        const double sharers = 1.0 + between(1000);
        const double spread = between(200);
        const double near = 100.0 + between(300);
        const double far = near + between(1000);
        const auto wait = [](double count, double width, double from, double to) {
            return machine::wait_of_followers(count, Cycles(width), Cycles(from), Cycles(to));
        };
        const double share = wait(sharers, spread, near, far);
        RC_ASSERT(share >= 0.0);
        RC_ASSERT(share <= 1.0);
        RC_ASSERT(wait(sharers + between(1000), spread, near, far) <= share + 1e-12);
        RC_ASSERT(wait(sharers, spread + between(200), near, far) <= share + 1e-12);
        RC_ASSERT(wait(sharers, spread, near, far + between(1000)) >= share - 1e-12);
    }));
}

TEST_CASE("the spread of a round goes from the L2's to DRAM's by the share of the CTA's own loads") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    CHECK(gpu.l2.round_spread < gpu.dram.round_spread);
    gpu.l2.round_spread = Cycles(40.0);
    gpu.dram.round_spread = Cycles(240.0);
    CHECK(machine::spread_of_round(0.0, gpu).value() == doctest::Approx(40.0));
    CHECK(machine::spread_of_round(1.0, gpu).value() == doctest::Approx(240.0));
    CHECK(machine::spread_of_round(0.25, gpu).value() == doctest::Approx(90.0));
    // Beyond the ends.
    CHECK(machine::spread_of_round(-1.0, gpu).value() == doctest::Approx(40.0));
    CHECK(machine::spread_of_round(2.0, gpu).value() == doctest::Approx(240.0));
}
