// Demand on servers: sums, the busiest one, and the limiter that each stands for.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/server.hpp"

#include <doctest/doctest.h>

#include <set>

namespace analytical = warptime::model::analytical;
using analytical::Server;
using warptime::hw::Cycles;
using warptime::model::prediction::Limiter;

TEST_CASE("demands add server by server and the first of equals is the busiest") {
    analytical::Demand<double> a;
    a[Server::issue] = Cycles<double>(3.0);
    a[Server::tensor] = Cycles<double>(5.0);
    analytical::Demand<double> b;
    b[Server::issue] = Cycles<double>(4.0);
    CHECK(a.busiest() == Server::tensor);
    a += b;
    CHECK(a[Server::issue].value() == 7.0);
    CHECK(a[Server::tensor].value() == 5.0);
    CHECK(a.busiest() == Server::issue);
    CHECK(analytical::Demand<double>{}.busiest() == Server::issue);
}

TEST_CASE("every server has a limiter of execution or memory") {
    std::set<Limiter> seen;
    for (std::size_t i = 0; i < analytical::server_count; ++i) {
        const Limiter limiter = analytical::limiter_of(static_cast<Server>(i));
        CHECK(limiter != Limiter::launch);
        CHECK(limiter != Limiter::tail);
        CHECK(limiter != Limiter::dram);
        seen.insert(limiter);
    }
    CHECK(analytical::limiter_of(Server::tensor) == Limiter::tensor_core);
    CHECK(analytical::limiter_of(Server::crossbar_read) == Limiter::crossbar);
    CHECK(analytical::limiter_of(Server::crossbar_write) == Limiter::crossbar);
    CHECK(seen.size() >= 8);
}
