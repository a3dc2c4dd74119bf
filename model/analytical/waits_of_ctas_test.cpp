// Waits of CTAs for the last of their warps, against sums of harmonic numbers.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/waits_of_ctas.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using namespace warptime::model;
using namespace warptime::model::analytical;

namespace {

/// Eight warps that load 512 bytes each, `turns` times.
ItemDemand loading(double turns) {
    ItemDemand item;
    item.warps = 8;
    item.before.load_rounds = turns;
    item.before.received_bytes = turns * 8 * 512.0;
    return item;
}

/// Mean of the largest of `count` exponential times with mean one.
double largest(int count) {
    double sum = 0.0;
    for (int i = 1; i <= count; ++i) sum += 1.0 / i;
    return sum;
}

}  // namespace

TEST_CASE("a CTA waits for the last piece of all its warps, once or in each turn that they meet in") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.dram.access_bytes = hw::Bytes(64.0);
    const double piece = gpu.dram.queue.value();
    // A warp has 8 pieces, a CTA 64.
    const double later = piece * (largest(64) - largest(8));
    const WaitsOfCtas once = waits_of_ctas(loading(1.0), 3.0, 1.0, gpu);
    CHECK(once.last.value() == doctest::Approx(3.0 * later).epsilon(0.01));
    CHECK(once.waits == doctest::Approx(3.0));
    ItemDemand turns = loading(4.0);
    CHECK(waits_of_ctas(turns, 3.0, 1.0, gpu).last.value() == doctest::Approx(once.last.value()));
    CHECK(waits_of_ctas(turns, 3.0, 1.0, gpu).waits == doctest::Approx(12.0));
    turns.before.demand[machine::Server::barrier] = hw::Cycles(8.0);
    CHECK(waits_of_ctas(turns, 3.0, 1.0, gpu).last.value() == doctest::Approx(4.0 * once.last.value()));
}

TEST_CASE("what the L2 holds makes no CTA wait for DRAM, nor does what copies bring ahead") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(waits_of_ctas(loading(2.0), 5.0, 0.0, gpu).waits == 0.0);
    CHECK(waits_of_ctas(loading(2.0), 5.0, 0.0, gpu).last.value() == 0.0);
    const WaitsOfCtas half = waits_of_ctas(loading(2.0), 5.0, 0.5, gpu);
    CHECK(half.waits == doctest::Approx(0.5 * waits_of_ctas(loading(2.0), 5.0, 1.0, gpu).waits));
    ItemDemand copies = loading(2.0);
    copies.asynchronous = true;
    CHECK(waits_of_ctas(copies, 5.0, 1.0, gpu).waits == 0.0);
    CHECK(waits_of_ctas(loading(0.0), 5.0, 1.0, gpu).waits == 0.0);
}
