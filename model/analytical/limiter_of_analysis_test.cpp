// Limiter of a main loop, by the CTAs that share an SM rather than by the CTAs that could.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/limiter_of_analysis.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;
using warptime::hw::Cycles;
using warptime::model::prediction::Limiter;

namespace {

/// A loop that waits 1600 cycles a trip for its copies and meanwhile computes for 1280; two CTAs fit an SM.
Analysis loop_of(std::int64_t ctas) {
    Analysis a;
    a.occupancy.ctas_per_sm = 2;
    a.sms = 128;
    a.items = a.ctas = ctas;
    a.item.asynchronous = true;
    a.item.loop.demand[machine::Server::fp32] = Cycles(1280.0);
    a.loop_chain = Cycles(1600.0);
    return a;
}

}  // namespace

TEST_CASE("a CTA that has its SM to itself is held by what it waits for") {
    CHECK(loop_of(1).resident() == 1);
    CHECK(loop_of(128).resident() == 1);
    CHECK(limiter_of_loop(loop_of(128)) == Limiter::bytes_in_flight);
}

TEST_CASE("CTAs that share an SM fill each other's waits") {
    CHECK(loop_of(129).resident() == 2);
    CHECK(loop_of(10000).resident() == 2);
    CHECK(limiter_of_loop(loop_of(129)) == Limiter::fp32);
}

TEST_CASE("loops that load for themselves wait for a chain of loads") {
    Analysis a = loop_of(64);
    a.item.asynchronous = false;
    CHECK(limiter_of_loop(a) == Limiter::chain_latency);
}
