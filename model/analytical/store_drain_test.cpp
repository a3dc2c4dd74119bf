// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/store_drain.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::analytical {

using hw::Cycles;

TEST_CASE("few SMs store at the rate of their ports, all of them at what the L2 takes in") {
    const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
    CHECK(store_slowdown(1, gpu) == 1.0);
    CHECK(store_slowdown(132, gpu) ==
          doctest::Approx(gpu.l2.write_bandwidth.value() / gpu.l2.ingest_bandwidth.value()));
}

TEST_CASE("a wait ends after the transfer and the way there; a second one finds nothing under way") {
    const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
    StoreDrain<double> stores(2.0);
    CHECK(stores.arrived(Cycles<double>(5.0), gpu).value() == 5.0);
    stores.add(Cycles<double>(10.0), Cycles<double>(100.0), false);
    stores.add(Cycles<double>(50.0), Cycles<double>(100.0), false);
    // 400 cycles from the first of them on, as all SMs send; then the way.
    const double waited = stores.arrived(Cycles<double>(60.0), gpu).value();
    CHECK(waited > 410.0);
    StoreDrain<double> late(2.0);
    late.add(Cycles<double>(10.0), Cycles<double>(100.0), false);
    // When the transfer is over, the way alone is left.
    CHECK(late.arrived(Cycles<double>(1000.0), gpu).value() - 1000.0 == doctest::Approx(waited - 410.0));
    CHECK(late.arrived(Cycles<double>(2000.0), gpu).value() == 2000.0);
}

TEST_CASE("bulk stores wait at their port's rate, and code that is left keeps only the way") {
    const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
    StoreDrain<double> bulk(2.0);
    bulk.add(Cycles<double>(0.0), Cycles<double>(100.0), true);
    const double way = bulk.arrived(Cycles<double>(0.0), gpu).value() - 100.0;
    CHECK(way > 0.0);
    bulk.add(Cycles<double>(0.0), Cycles<double>(100.0), true);
    bulk.leave();
    CHECK(bulk.arrived(Cycles<double>(0.0), gpu).value() == doctest::Approx(way));
}

}  // namespace warptime::model::analytical
