// Waits for stores, by hand: transfer through the port, then the latency.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/store_drain.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {

using hw::Cycles;

TEST_CASE("few SMs store at the rate of their ports, all of them at what the L2 takes in") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    CHECK(store_slowdown(1, gpu) == 1.0);
    CHECK(store_slowdown(132, gpu) ==
          doctest::Approx(gpu.l2.write_bandwidth.value() / gpu.l2.ingest_bandwidth.value()));
}

TEST_CASE("a wait ends after the transfer and the way there; a second one finds nothing under way") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    StoreDrain stores(2.0);
    CHECK(stores.arrived(Cycles(5.0), gpu).value() == 5.0);
    stores.add(Cycles(10.0), Cycles(100.0), false);
    stores.add(Cycles(50.0), Cycles(100.0), false);
    // 400 cycles from the first store on, as all SMs send; then the latency.
    const double waited = stores.arrived(Cycles(60.0), gpu).value();
    CHECK(waited > 410.0);
    StoreDrain late(2.0);
    late.add(Cycles(10.0), Cycles(100.0), false);
    // When the transfer is over, the latency alone is left.
    CHECK(late.arrived(Cycles(1000.0), gpu).value() - 1000.0 == doctest::Approx(waited - 410.0));
    CHECK(late.arrived(Cycles(2000.0), gpu).value() == 2000.0);
}

TEST_CASE("bulk stores wait at their port's rate, and code that is left keeps only the way") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    StoreDrain bulk(2.0);
    bulk.add(Cycles(0.0), Cycles(100.0), true);
    const double way = bulk.arrived(Cycles(0.0), gpu).value() - 100.0;
    CHECK(way > 0.0);
    bulk.add(Cycles(0.0), Cycles(100.0), true);
    bulk.leave();
    CHECK(bulk.arrived(Cycles(0.0), gpu).value() == doctest::Approx(way));
}

}  // namespace warptime::model::machine
