// Makespans of uneven items: equal items as waves, one SM as a sum, and bounds of list scheduling.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/uneven_items.hpp"

#include "hw/error.hpp"
#include "model/machine/occupancy/waves.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

using namespace warptime::model::machine;

namespace {

/// Time of a list of items, each of which goes to the slot that is free first.
double list_makespan(const std::vector<double>& durations, std::int64_t slots) {
    std::vector<double> free_at(static_cast<std::size_t>(slots), 0.0);
    for (const double duration : durations) *std::min_element(free_at.begin(), free_at.end()) += duration;
    return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace

TEST_CASE("equal items take the time of waves") {
    const std::vector<ItemPace> paces{{3.0, 2.0}, {5.0, 4.0}};
    const auto equal = [](std::int64_t) { return 10.0; };
    // Two full waves of 4 SMs with 2 items each, then one SM of each pair alone.
    const auto of = [&](std::int64_t resident) {
        return paces[static_cast<std::size_t>(resident) - 1].fixed +
               10.0 * paces[static_cast<std::size_t>(resident) - 1].trip;
    };
    for (const std::int64_t items : {1, 4, 8, 12, 16, 20}) {
        CAPTURE(items);
        const Waves waves = waves_of(items, 8);
        const double tail = waves.tail_items > 0 ? of(tail_residency(waves.tail_items, 4)) : 0.0;
        const double closed = static_cast<double>(waves.full_waves) * of(2) + tail;
        CHECK(uneven_makespan(items, equal, 4, paces).makespan == doctest::Approx(closed));
    }
    CHECK(uneven_makespan(0, equal, 4, paces).makespan == 0.0);
    CHECK_THROWS_AS((void)uneven_makespan(1, equal, 0, paces), warptime::Error);
    CHECK_THROWS_AS((void)uneven_makespan(1, equal, 1, {}), warptime::Error);
}

TEST_CASE("with one item an SM the makespan is that of a greedy list") {
    CHECK(rc::check("as the greedy list", [] {
        const auto lengths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
        const auto sms = *rc::gen::inRange<std::int64_t>(1, 7);
        const std::vector<ItemPace> paces{{2.0, 0.5}};
        std::vector<double> durations;
        for (const int length : lengths) durations.push_back(2.0 + 0.5 * length);
        const double greedy = list_makespan(durations, sms);
        const auto of = [&](std::int64_t i) {
            return static_cast<double>(lengths[static_cast<std::size_t>(i)]);
        };
        const UnevenMakespan time =
            uneven_makespan(static_cast<std::int64_t>(lengths.size()), of, sms, paces);
        RC_ASSERT(std::abs(time.makespan - greedy) <= 1e-6 * (1.0 + greedy));
        RC_ASSERT(time.busy <= time.makespan * (1.0 + 1e-9));
    }));
}

TEST_CASE("two items that halve each other's pace take as long as one after the other") {
    const std::vector<ItemPace> paces{{1.0, 1.0}, {2.0, 2.0}};
    const std::vector<double> lengths{1.0, 7.0, 3.0, 5.0};
    const auto of = [&](std::int64_t i) { return lengths[static_cast<std::size_t>(i)]; };
    CHECK(uneven_makespan(4, of, 1, paces).makespan == doctest::Approx(4.0 + 16.0));
}
