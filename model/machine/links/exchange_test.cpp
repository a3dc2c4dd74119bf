// Exchanges against sums by hand, and the pipeline's fill against the best cut found by search.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/links/exchange.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using warptime::model::machine::exchange_time;
using warptime::model::machine::limiter_of;
using namespace warptime::model::kernel;
using warptime::model::prediction::Limiter;

TEST_CASE("start, hops and bytes add up; the slower kind of link counts") {
    Exchange e;
    e.start_seconds = 5e-6;
    e.links[0] = {6.0, 1e-6, 1e6, 1e11};
    e.links[1] = {2.0, 4e-6, 1e6, 2.5e10};
    e.handled_bytes = 2e6;
    e.handled_per_second = 1e12;
    const auto t = exchange_time(e);
    CHECK(t.hops.value() == doctest::Approx(14e-6).scale(1e-6));
    CHECK(t.link.value() == doctest::Approx(40e-6).scale(1e-6));
    CHECK(t.total().value() == doctest::Approx(5e-6 + 14e-6 + 40e-6 + 2e-6).scale(1e-6));
    CHECK(limiter_of(t) == Limiter::bytes_in_flight);
    e.links[0].bytes = e.links[1].bytes = e.handled_bytes = 0.0;
    CHECK(limiter_of(exchange_time(e)) == Limiter::chain_latency);
    e.links[0].hops = e.links[1].hops = 0.0;
    CHECK(limiter_of(exchange_time(e)) == Limiter::launch);
    CHECK(exchange_time(e).total().value() == doctest::Approx(5e-6).scale(1e-6));
}

TEST_CASE("the fill is that of a pipeline cut into the best number of pieces") {
    // n pieces over h hops: (n + h - 1) turns, each of which costs c and the piece's bytes.
    constexpr double c = 2e-6;
    constexpr double hops = 7.0;
    constexpr double wire = 400e-6;
    double best = 1.0;
    for (int n = 1; n <= 10000; ++n) best = std::min(best, (n + hops - 1.0) * (c + wire / n));
    Exchange e;
    // The last hop's own turn is the bytes themselves: h - 1 turns fill.
    e.fill_seconds = 4.0 * c * (hops - 1.0);
    e.start_seconds = c * (hops - 1.0);
    e.links[0] = {0.0, 0.0, wire * 1e11, 1e11};
    CHECK(exchange_time(e).total().value() == doctest::Approx(best).scale(1e-6).epsilon(0.01));
}
