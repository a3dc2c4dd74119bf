// Lines that the L1 keeps for loads under way: their number, and how long each is kept.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/pending_lines.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace warptime::model::machine {

TEST_CASE("a share of the lines, and at least those of one warp") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l1.pending_share = hw::Number(0.5);
    CHECK(pending_lines(256.0 * gpu.l1.line.value(), gpu) == doctest::Approx(128.0));
    CHECK(pending_lines(0.0, gpu) == 32.0);
    CHECK(pending_lines(-1.0, gpu) == 32.0);
}

TEST_CASE("lines are kept for the nearer memory alone, for DRAM alone, and in between") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const hw::Cycles near(280.0), dram(660.0);
    CHECK(held_place(140.0, 0.3, true, near, near, gpu).alone == near);
    CHECK(held_place(140.0, 0.0, true, near, dram, gpu).alone == near);
    CHECK(held_place(140.0, 1.0, true, near, dram, gpu).alone == dram);
    CHECK(held_place(140.0, 1.0, false, near, dram, gpu).queued == hw::Cycles{});
    const HeldPlace all = held_place(140.0, 1.0, true, near, dram, gpu);
    CHECK(all.queued.value() == doctest::Approx(gpu.dram.queue.value() * beyond_the_mean(140)).epsilon(0.01));
    double before = 0.0;
    for (int percent = 0; percent <= 100; ++percent) {
        const double kept = held_place(140.0, 0.01 * percent, true, near, dram, gpu).alone.value();
        CHECK(kept >= before);
        before = kept;
    }
}

TEST_CASE("places that are visited at random behave as the law says") {
    // Loads come back in order. Each goes out once the load `pending` before it is back; a place's first
    // visit takes the latency of DRAM, all others that of the L2.
    const auto gpu = hw::load_gpu("h200-sxm");
    constexpr double near = 280.0, dram = 660.0;
    constexpr int pending = 140;
    for (const int visits_to_each : {12, 24, 48}) {
        constexpr int places = 8192;
        const int loads = places * visits_to_each;
        std::mt19937 random(7);
        std::vector<bool> seen(places);
        std::vector<double> back(static_cast<std::size_t>(loads));
        double last = 0.0;
        int first_visits = 0;
        for (int i = 0; i < loads; ++i) {
            const double out = i < pending ? 0.0 : back[static_cast<std::size_t>(i - pending)];
            const std::size_t place = random() % places;
            last = std::max(last, out + (seen[place] ? near : dram));
            first_visits += seen[place] ? 0 : 1;
            seen[place] = true;
            back[static_cast<std::size_t>(i)] = last;
        }
        const double lost = static_cast<double>(first_visits) / loads;
        const double law =
            held_place(pending, lost, true, hw::Cycles(near), hw::Cycles(dram), gpu).alone.value() / pending;
        CHECK(std::abs(std::log(law / (last / loads))) < 0.08);
    }
}

TEST_CASE("lines wait behind lost ones more often than they are lost, and never more than always") {
    CHECK(share_behind(140.0, 0.0) == 0.0);
    CHECK(share_behind(140.0, 1.0) == 1.0);
    CHECK(share_behind(1.0, 0.25) == 0.25);
    CHECK(share_behind(140.0, 0.05) > 0.05);
    CHECK(share_behind(140.0, 0.05) == doctest::Approx(0.05 * (beyond_the_mean(140) + 1.0)).epsilon(0.01));
}

}  // namespace warptime::model::machine
