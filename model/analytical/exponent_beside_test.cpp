// The exponent of loops that read their operands by ldmatrix. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/exponent_beside.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::analytical;
using warptime::hw::Cycles;

TEST_CASE("only loops that ldmatrix paces overlap better the more CTAs share an SM") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.overlap.residents = warptime::hw::Number<double>(0.5);
    const double exponent = gpu.overlap.exponent.value();
    ItemDemand<double> item;
    item.loop.demand[Server::shared] = Cycles<double>(300.0);
    item.loop.demand[Server::l1] = Cycles<double>(200.0);
    CHECK(exponent_beside(item, 4, gpu) == exponent);
    item.self_fed = true;
    CHECK(exponent_beside(item, 1, gpu) == exponent);
    CHECK(exponent_beside(item, 4, gpu) == doctest::Approx(2.0 * exponent));
    // What waits on the way of its own copies, and what the tensor cores read themselves.
    item.loop.demand[Server::l1] = Cycles<double>(400.0);
    CHECK(exponent_beside(item, 4, gpu) == exponent);
    item.loop.demand[Server::l1] = Cycles<double>(200.0);
    item.loop.demand[Server::shared_write] = Cycles<double>(100.0);
    CHECK(exponent_beside(item, 4, gpu) == exponent);
}
