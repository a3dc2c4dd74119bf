// Places for lines under way, against Little's law and the order in which lines come back.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/line_places.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::simulation;

namespace {

/// Time of `loads` loads of so many lines one after another, each under way for `latency`.
Ticks time_of(int loads, double lines, double places, Ticks latency) {
    LinePlaces of;
    of.set_most(places);
    Ticks now = 0;
    for (int i = 0; i < loads; ++i) {
        const Ticks asked = now;
        now = of.free_from(lines, now);
        of.enter(lines, asked, now, now + latency);
    }
    return now + latency;
}

}  // namespace

TEST_CASE("loads that find places go out at once") {
    LinePlaces places;
    places.set_most(64.0);
    CHECK(places.free_from(32.0, 10) == 10);
    places.enter(32.0, 10, 10, 500);
    CHECK(places.free_from(32.0, 20) == 20);
    places.enter(32.0, 20, 20, 510);
    CHECK(places.free_from(32.0, 30) == 500);
    CHECK(places.free_from(1.0, 30) == 500);
    CHECK(places.free_from(32.0, 505) == 505);
}

TEST_CASE("lines come back in the order in which they went out") {
    LinePlaces places;
    places.set_most(2.0);
    places.enter(1.0, 0, 0, 900);
    places.enter(1.0, 0, 0, 300);
    CHECK(places.free_from(1.0, 400) == 900);
}

TEST_CASE("as many lines as there are places are under way, whatever the number of lines of a load") {
    // Little's law: lines x latency / places.
    constexpr Ticks latency = 1000;
    constexpr int loads = 4000;
    for (const double lines : {1.0, 8.0, 20.0, 32.0}) {
        CAPTURE(lines);
        const double expected = loads * lines * static_cast<double>(latency) / 40.0;
        const auto time = static_cast<double>(time_of(loads, lines, 40.0, latency));
        CHECK(time == doctest::Approx(expected).epsilon(0.02));
    }
}

TEST_CASE("a load of more lines than places takes all of them") {
    CHECK(time_of(10, 64.0, 32.0, 1000) == 10 * 1000);
}
