// Wait of a load for another kernel's loads.
// SPDX-License-Identifier: Apache-2.0
#include "model/system/beside.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using warptime::model::system::wait_beside;

TEST_CASE("a load beside loops that wait shares less than half of what their rounds wait") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const hw::Cycles alone(1000.0);
    CHECK(wait_beside(alone, alone, gpu).value() == 0.0);
    CHECK(wait_beside(hw::Cycles(900.0), alone, gpu).value() == 0.0);
    const double once = wait_beside(hw::Cycles(2000.0), alone, gpu).value();
    CHECK(once > 0.0);
    CHECK(once < 500.0);
    CHECK(wait_beside(hw::Cycles(4000.0), alone, gpu).value() == doctest::Approx(3.0 * once));
}
