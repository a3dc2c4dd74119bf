// Demand on servers: sums, the busiest server, and the limiter of each.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/server.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace warptime::model::machine;
using warptime::hw::Cycles;
using warptime::model::prediction::Limiter;

TEST_CASE("demands add server by server and the first of equals is the busiest") {
    Demand a;
    a[Server::issue] = Cycles(3.0);
    a[Server::tensor] = Cycles(5.0);
    Demand b;
    b[Server::issue] = Cycles(4.0);
    CHECK(a.busiest() == Server::tensor);
    a += b;
    CHECK(a[Server::issue].value() == 7.0);
    CHECK(a[Server::tensor].value() == 5.0);
    CHECK(a.busiest() == Server::issue);
    CHECK(Demand{}.busiest() == Server::issue);
}

TEST_CASE("every server has a limiter of execution or memory") {
    std::set<Limiter> seen;
    for (std::size_t i = 0; i < server_count; ++i) {
        const Limiter limiter = limiter_of(static_cast<Server>(i));
        CHECK(limiter != Limiter::launch);
        CHECK(limiter != Limiter::tail);
        CHECK(limiter != Limiter::dram);
        seen.insert(limiter);
    }
    CHECK(limiter_of(Server::tensor) == Limiter::tensor_core);
    CHECK(limiter_of(Server::crossbar_read) == Limiter::crossbar);
    CHECK(limiter_of(Server::crossbar_write) == Limiter::crossbar);
    CHECK(seen.size() >= 8);
}
