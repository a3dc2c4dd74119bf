// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/stretches.hpp"

#include <doctest/doctest.h>

using warptime::hw::Cycles;
using warptime::model::analytical::Stretches;
using warptime::model::machine::Part;
using warptime::model::machine::Server;

TEST_CASE("work before a barrier fills no wait behind the barrier") {
    Part part;
    Stretches stretches;
    stretches.begin(part, 1);
    part.demand[Server::issue] += Cycles(100.0);
    stretches.meet(Cycles(100.0), Cycles(100.0), Cycles{}, 1.0, part);
    part.demand[Server::issue] += Cycles(10.0);
    stretches.leave(Cycles(400.0), Cycles{}, 1.0, part);
    CHECK(part.met_busy.value() == doctest::Approx(110.0));
    CHECK((part.met_busy + part.met_idle).value() == doctest::Approx(100.0 + 300.0));
}

TEST_CASE("warps in step wait for their loads together") {
    Part part;
    Stretches stretches;
    stretches.begin(part, 8);
    part.demand[Server::fp32] += Cycles(800.0);
    // Each warp computes for 100 cycles and waits for 600.
    stretches.meet(Cycles(700.0), Cycles(700.0), Cycles(600.0), 1.0, part);
    stretches.leave(Cycles(700.0), Cycles(600.0), 1.0, part);
    CHECK((part.met_busy + part.met_idle).value() == doctest::Approx(800.0 + 600.0));
}

TEST_CASE("a part without barriers has no stretches") {
    Part part;
    Stretches stretches;
    stretches.begin(part, 4);
    part.demand[Server::issue] += Cycles(100.0);
    stretches.leave(Cycles(500.0), Cycles{}, 1.0, part);
    CHECK(part.met_busy.value() == 0.0);
    CHECK(part.met_idle.value() == 0.0);
}

TEST_CASE("what the bulk engine stores leaves behind the barrier, other stores before it") {
    for (const bool bulk : {false, true}) {
        Part part;
        Stretches stretches;
        stretches.begin(part, 1);
        part.demand[Server::shared] += Cycles(50.0);
        part.demand[Server::crossbar_write] += Cycles(400.0);
        if (bulk) part.demand[Server::tma] += Cycles(500.0);
        stretches.meet(Cycles(60.0), Cycles(60.0), Cycles{}, 1.0, part);
        stretches.leave(Cycles(60.0), Cycles{}, 1.0, part);
        CHECK(part.met_busy.value() == doctest::Approx(bulk ? 50.0 : 400.0));
    }
}

TEST_CASE("roles of a CTA go through their stretches side by side") {
    Part part;
    Stretches stretches;
    // One warp each: 100 cycles at the issue slots, and 500 and 900 cycles from the first to the last.
    for (const double length : {500.0, 900.0}) {
        stretches.begin(part, 1);
        part.demand[Server::issue] += Cycles(100.0);
        stretches.meet(Cycles(length), Cycles(length), Cycles{}, 1.0, part);
        stretches.leave(Cycles(length), Cycles{}, 1.0, part);
    }
    CHECK(part.met_busy.value() == doctest::Approx(200.0));
    CHECK((part.met_busy + part.met_idle).value() == doctest::Approx(900.0));
}
