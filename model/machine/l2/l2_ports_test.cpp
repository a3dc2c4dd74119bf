// Cost of a byte at an SM's ports when part of its GPC works.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_ports.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using namespace warptime::model::machine;

TEST_CASE("one SM has its port for itself, many share their cluster's way") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const double shared = 1.0 / gpu.l2.port_bandwidth.value();
    CHECK(port_costs(1.0, gpu).own == port_costs(5.0, gpu).own);
    CHECK(port_costs(1.0, gpu).own < shared);
    CHECK(port_costs(16.0, gpu).own == doctest::Approx(2.0 * port_costs(8.0, gpu).own));
    CHECK(port_costs(1.0, gpu).shared == shared);
    CHECK(port_costs(18.0, gpu).own == shared);
    CHECK(port_costs(1.0, gpu).stored == 1.0 / gpu.l2.write_bandwidth.value());
    CHECK(port_costs(16.0, gpu).stored > port_costs(1.0, gpu).stored);
}
