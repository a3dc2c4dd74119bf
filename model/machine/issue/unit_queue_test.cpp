// Special-function instructions between others: the warp goes on, the unit does not.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/unit_queue.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

using Cycles = hw::Cycles;

kernel::Op op_of(hw::InstructionClass cls, double registers = 3.0) {
    kernel::Op op;
    op.cls = cls;
    op.registers = registers;
    return op;
}

}  // namespace

TEST_CASE("a warp leaves a unit after a slot and finds it taken for its interval") {
    UnitQueue units;
    const Cycles eight(8.0);
    // Two instructions from cycle 10 on hold the unit until 26; the warp goes on behind the second one's
    // slot.
    const kernel::Op ex2 = op_of(hw::InstructionClass::mufu);
    CHECK(units.pass(ex2, hw::Unit::sfu, Cycles(10.0), Cycles(26.0), eight).value() == 19.0);
    CHECK(units.begin(hw::Unit::sfu, Cycles(20.0)).value() == 26.0);
    CHECK(units.begin(hw::Unit::sfu, Cycles(30.0)).value() == 30.0);
    CHECK(units.begin(hw::Unit::tensor, Cycles(20.0)).value() == 26.0);
    CHECK(units.begin(hw::Unit::fp32, Cycles(20.0)).value() == 20.0);
    // Integer instructions of two registers behave the same; those of three registers hold the warp itself.
    const Cycles two(2.0);
    const kernel::Op pack = op_of(hw::InstructionClass::convert_pack);
    CHECK(units.pass(pack, hw::Unit::integer, Cycles(26.0), Cycles(30.0), two).value() == 29.0);
    CHECK(units.begin(hw::Unit::integer, Cycles(29.0)).value() == 30.0);
    CHECK(units.begin(hw::Unit::fp32, Cycles(29.0)).value() == 29.0);
    const kernel::Op mad = op_of(hw::InstructionClass::mad_s32);
    CHECK(units.pass(mad, hw::Unit::integer, Cycles(30.0), Cycles(34.0), two).value() == 34.0);
    CHECK(units.begin(hw::Unit::integer, Cycles(33.0)).value() == 33.0);
    const kernel::Op scaled = op_of(hw::InstructionClass::mad_s32, 1.0);
    CHECK(units.pass(scaled, hw::Unit::integer, Cycles(34.0), Cycles(38.0), two).value() == 37.0);
    CHECK(units.begin(hw::Unit::integer, Cycles(37.0)).value() == 38.0);
    CHECK(units.busy().value() == 16.0);
}

}  // namespace warptime::model::machine
