// Special-function instructions between others: the warp goes on, the unit does not.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/unit_queue.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

using Cycles = hw::Cycles;

}  // namespace

TEST_CASE("a warp leaves a unit after a slot and finds it taken for its interval") {
    UnitQueue units;
    const Cycles eight(8.0);
    // Two instructions from cycle 10 on hold the unit until 26; the warp goes on behind the second one's
    // slot.
    const auto ex2 = hw::InstructionClass::mufu;
    CHECK(units.pass(ex2, hw::Unit::sfu, Cycles(10.0), Cycles(26.0), eight).value() == 19.0);
    CHECK(units.begin(hw::Unit::sfu, Cycles(20.0)).value() == 26.0);
    CHECK(units.begin(hw::Unit::sfu, Cycles(30.0)).value() == 30.0);
    CHECK(units.begin(hw::Unit::tensor, Cycles(20.0)).value() == 26.0);
    CHECK(units.begin(hw::Unit::fp32, Cycles(20.0)).value() == 20.0);
    // Integer instructions of two registers behave the same; those of three registers hold the warp itself.
    const Cycles two(2.0);
    const auto pack = hw::InstructionClass::convert_pack;
    CHECK(units.pass(pack, hw::Unit::integer, Cycles(26.0), Cycles(30.0), two).value() == 29.0);
    CHECK(units.begin(hw::Unit::integer, Cycles(29.0)).value() == 30.0);
    CHECK(units.begin(hw::Unit::fp32, Cycles(29.0)).value() == 29.0);
    const auto mad = hw::InstructionClass::mad_s32;
    CHECK(units.pass(mad, hw::Unit::integer, Cycles(30.0), Cycles(34.0), two).value() == 34.0);
    CHECK(units.begin(hw::Unit::integer, Cycles(33.0)).value() == 33.0);
    CHECK(units.busy().value() == 16.0);
}

}  // namespace warptime::model::machine
