// Cycles to ticks and back, and times beyond the range.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/ticks.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

using namespace warptime::model::simulation;

TEST_CASE("whole cycles and their halves are exact") {
    CHECK(ticks_of(0.0) == 0);
    CHECK(ticks_of(1.0) == ticks_per_cycle);
    CHECK(ticks_of(2.5) * 2 == 5 * ticks_per_cycle);
    CHECK(cycles_of(7 * ticks_per_cycle) == 7.0);
}

TEST_CASE("any duration comes back within half a tick") {
    CHECK(rc::check("cycles to ticks to cycles", [] {
        const double cycles = std::ldexp(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50), -20);
        RC_ASSERT(std::abs(cycles_of(ticks_of(cycles)) - cycles) <=
                  0.5 / static_cast<double>(ticks_per_cycle));
    }));
}

TEST_CASE("a rate that is missing, and a duration past the end of time, are said") {
    for (const double cycles :
         {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e10}) {
        CHECK_THROWS_WITH_AS(static_cast<void>(ticks_of(cycles)), doctest::Contains("simulated duration"),
                             warptime::Error);
    }
}
