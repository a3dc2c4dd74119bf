// Server against the closed form of a queue, and its limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/server.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <vector>

using namespace warptime::model::simulation;

TEST_CASE("the last request ends at the largest of arrival plus all work from there on") {
    CHECK(rc::check("max over k of a_k + sum from k of d", [] {
        Server server;
        std::vector<Ticks> arrivals, durations;
        Ticks now = 0;
        Ticks end = 0;
        Ticks total = 0;
        for (int i = *rc::gen::inRange(1, 30); i > 0; --i) {
            now += *rc::gen::inRange(0, 10);
            const Ticks duration = *rc::gen::inRange(1, 12);
            arrivals.push_back(now);
            durations.push_back(duration);
            total += duration;
            end = server.serve(now, duration);
            Ticks expected = 0;
            Ticks work = 0;
            for (std::size_t k = arrivals.size(); k-- > 0;) {
                work += durations[k];
                expected = std::max(expected, arrivals[k] + work);
            }
            RC_ASSERT(end == expected);
        }
        RC_ASSERT(server.busy() == total);
        RC_ASSERT(server.free_at() == end);
    }));
}

TEST_CASE("nothing to do takes no time and waits for nobody") {
    Server server;
    server.serve(0, 100);
    CHECK(server.serve(10, 0) == 10);
    CHECK(server.free_at() == 100);
}

TEST_CASE("durations become whole ticks, and impossible ones are refused") {
    CHECK(ticks_of(1.0) == ticks_per_cycle);
    CHECK(ticks_of(0.5) * 2 == ticks_per_cycle);
    CHECK(cycles_of(ticks_of(12345.0)) == 12345.0);
    CHECK_THROWS_AS((void)ticks_of(-1.0), warptime::Error);
    CHECK_THROWS_AS((void)ticks_of(std::numeric_limits<double>::infinity()), warptime::Error);
    CHECK_THROWS_AS((void)ticks_of(1e11), warptime::Error);
}
