// Additions that wait in a slice, for one place and for many.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/atomics/slice_order.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace machine = warptime::model::machine;

TEST_CASE("one place takes its turns, and places that are quick take passes alone") {
    CHECK(machine::in_order(10.0, 24.0, 1.0) == doctest::Approx(24.0));
    CHECK(machine::in_order(10.0, 2.0, 4.0) == doctest::Approx(10.0));
    CHECK(machine::in_order(0.0, 3.0, 2.0) == 3.0);
}

TEST_CASE("places drawn at random wait as a slice does that goes through them in order") {
    constexpr int additions = 40000;
    constexpr double pass = 1.0;
    constexpr double wait = 2.4;
    for (const std::uint32_t places : {2U, 4U, 8U}) {
        std::vector<double> free(places, 0.0);
        double now = 0.0;
        std::uint32_t state = 1;
        for (int i = 0; i < additions; ++i) {
            state = state * 1664525U + 1013904223U;
            double& at = free[(state >> 16U) % places];
            now = now < at ? at : now;
            at = now + wait;
            now += pass;
        }
        // Consecutive waits overlap in part, which the argument leaves out.
        const double turns = wait * additions / places;
        CHECK(machine::in_order(pass * additions, turns, places) == doctest::Approx(now).epsilon(0.05));
    }
}
