// Instructions of the special-function unit between others: the warp goes on, the unit does not.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/unit_queue.hpp"

#include <doctest/doctest.h>

namespace warptime::model::analytical {
namespace {

using Cycles = hw::Cycles<double>;

}  // namespace

TEST_CASE("a warp leaves the special-function unit after a slot and finds it taken for its interval") {
    UnitQueue<double> units;
    const Cycles eight(8.0);
    // Two instructions from cycle 10 on hold the unit until 26; the warp goes on behind the second one's
    // slot.
    CHECK(units.pass(hw::Unit::sfu, Cycles(10.0), Cycles(26.0), eight).value() == 19.0);
    CHECK(units.begin(hw::Unit::sfu, Cycles(20.0)).value() == 26.0);
    CHECK(units.begin(hw::Unit::sfu, Cycles(30.0)).value() == 30.0);
    CHECK(units.begin(hw::Unit::tensor, Cycles(20.0)).value() == 26.0);
    CHECK(units.begin(hw::Unit::fp32, Cycles(20.0)).value() == 20.0);
    // Others hold the warp itself.
    CHECK(units.pass(hw::Unit::integer, Cycles(26.0), Cycles(30.0), Cycles(2.0)).value() == 30.0);
    CHECK(units.begin(hw::Unit::integer, Cycles(28.0)).value() == 28.0);
    CHECK(units.busy().value() == 16.0);
}

}  // namespace warptime::model::analytical
