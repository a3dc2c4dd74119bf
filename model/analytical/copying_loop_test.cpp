// The turn of a CTA that copies for itself. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/copying_loop.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::analytical;
using warptime::hw::Cycles;

TEST_CASE("a trip takes its busiest server and a turn, but for tensor cores, which go on meanwhile") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    ItemDemand<double> item;
    item.loop.demand[Server::l1] = Cycles<double>(200.0);
    item.loop.demand[Server::tensor] = Cycles<double>(512.0);
    CHECK_FALSE(copies_by_lanes(item));
    CHECK(copying_turn(item, gpu).value() == 0.0);
    item.self_fed = true;
    CHECK(copies_by_lanes(item));
    const double alone = copying_turn(item, gpu).value();
    CHECK(alone > 200.0);
    CHECK(alone < 400.0);
    item.loop.demand[Server::shared] = Cycles<double>(300.0);
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(alone + 100.0));
    item.loop.demand[Server::tma] = Cycles<double>(1.0);
    CHECK(copying_turn(item, gpu).value() == 0.0);
}

TEST_CASE("what DRAM brings to all SMs at once takes longer than its latency") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    CHECK(copy_extra(false, gpu).value() > 0.0);
    CHECK(copy_extra(true, gpu).value() > copy_extra(false, gpu).value());
}
