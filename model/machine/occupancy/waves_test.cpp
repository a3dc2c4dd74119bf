// Waves against enumeration, a brute-force scheduler and the bounds of Graham.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/waves.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

using namespace warptime::model::machine;

namespace {

/// Independent derivation in whole-number time steps: at each step every free slot takes the next item.
double stepped_makespan(const std::vector<int>& durations, int slots) {
    std::vector<int> left(static_cast<std::size_t>(slots), 0);
    std::size_t next = 0;
    int now = 0;
    for (;; ++now) {
        bool busy = false;
        for (int& remaining : left) {
            while (remaining == 0 && next < durations.size()) {
                remaining = durations[next++];
            }
            busy = busy || remaining > 0;
        }
        if (!busy) {
            return now;
        }
        for (int& remaining : left) {
            remaining -= remaining > 0 ? 1 : 0;
        }
    }
}

std::vector<double> as_double(const std::vector<int>& values) {
    return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("waves of a grid") {
    const Waves waves = waves_of(300, 132);
    CHECK(waves.full_waves == 2);
    CHECK(waves.tail_items == 36);
    CHECK(waves.count() == 3);
    CHECK(waves.ratio == doctest::Approx(300.0 / 132.0));
    CHECK(waves_of(264, 132).count() == 2);
    CHECK(waves_of(0, 132).count() == 0);
    CHECK_THROWS_AS(static_cast<void>(waves_of(1, 0)), warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(waves_of(-1, 4)), warptime::Error);
    CHECK(items_per_persistent_cta(265, 132) == 3);
}

TEST_CASE("the tail runs at the residency of its fullest SM") {
    // 4 SMs, 3 CTAs resident, 17 items: one full wave of 12, then 5 items over 4 SMs: 2 on the fullest.
    const auto duration = [](std::int64_t resident) { return 10.0 * static_cast<double>(resident) + 1.0; };
    CHECK(uniform_time(17, 4, 3, duration) == 31.0 + 21.0);
    CHECK(uniform_time(12, 4, 3, duration) == 31.0);
    CHECK(uniform_time(4, 4, 3, duration) == 11.0);
    CHECK(uniform_time(0, 4, 3, duration) == 0.0);
}

TEST_CASE("list schedule: a worked example") {
    std::vector<double> scratch;
    // Slots end at 3 and 2; item 4 goes to the second slot (6), item 1 to the first (4).
    CHECK(greedy_makespan(std::vector<double>{3, 2, 4, 1}, 2, scratch) == 6.0);
    CHECK(strided_makespan(std::vector<double>{3, 2, 4, 1}, 2) == 7.0);
    CHECK(greedy_makespan(std::vector<double>{}, 2, scratch) == 0.0);
    CHECK_THROWS_AS(static_cast<void>(greedy_makespan({}, 0, scratch)), warptime::Error);
}

TEST_CASE("list schedule equals a scheduler that steps through time, and keeps Graham's bounds") {
    CHECK(rc::check("greedy makespan", [] {
        const auto durations = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50));
        const int slots = *rc::gen::inRange(1, 20);
        std::vector<double> scratch;
        const double makespan = greedy_makespan(as_double(durations), slots, scratch);
        RC_ASSERT(makespan == stepped_makespan(durations, slots));
        const double sum = std::accumulate(durations.begin(), durations.end(), 0.0);
        const double longest =
            durations.empty() ? 0.0 : *std::max_element(durations.begin(), durations.end());
        RC_ASSERT(makespan >= sum / slots - 1e-9);
        RC_ASSERT(makespan >= longest);
        RC_ASSERT(makespan <= sum / slots + longest + 1e-9);
        RC_ASSERT(strided_makespan(as_double(durations), slots) >= sum / slots - 1e-9);
    }));
}

TEST_CASE("equal items: the closed form is the list schedule") {
    CHECK(rc::check("uniform time", [] {
        const int items = *rc::gen::inRange(0, 500);
        const int sms = *rc::gen::inRange(1, 20);
        const int resident = *rc::gen::inRange(1, 6);
        const std::vector<double> durations(static_cast<std::size_t>(items), 7.0);
        std::vector<double> scratch;
        const double closed = uniform_time(items, sms, resident, [](std::int64_t) { return 7.0; });
        RC_ASSERT(closed == greedy_makespan(durations, sms * resident, scratch));
        RC_ASSERT(closed == strided_makespan(durations, sms * resident));
    }));
}
