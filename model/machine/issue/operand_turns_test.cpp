// Turns of multiply-adds in blocks and of instructions with three registers.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/operand_turns.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {

TEST_CASE("multiply-adds of a block take a quarter more turns than instructions, as the SASS counts") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    kernel::Op op;
    op.cls = hw::InstructionClass::fma_f32;
    op.count = 1024;
    CHECK(operand_turns(op, gpu) == 1.0);
    op.shape = {16, 8, 0};
    CHECK(operand_turns(op, gpu) * 1024 == doctest::Approx(1290).epsilon(0.01));
    // Down the columns: each column's first instruction reads three registers, where two have a port.
    op.shape = {16, 8, 16};
    CHECK(operand_turns(op, gpu) == 1.0625);
    op.shape = {4, 8, 4};
    CHECK(operand_turns(op, gpu) == 1.25);
    hw::Gpu wide = gpu;
    wide.sm.register_banks = wide.sm.register_banks * 2.0;
    CHECK(operand_turns(op, wide) == 1.125);
    op.shape = {1, 8, 0};
    CHECK(operand_turns(op, gpu) == 1.0);
    op.shape = {16, 8, 0};
    op.cls = hw::InstructionClass::add_f32;
    CHECK(operand_turns(op, gpu) == 1.0);
}

TEST_CASE("three registers take two banks a turn and a half, and four banks one") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    CHECK(port_turns(hw::InstructionClass::logic, gpu) == 1.5);
    CHECK(port_turns(hw::InstructionClass::add_s32, gpu) == 1.0);
    CHECK(port_turns(hw::InstructionClass::fma_f32, gpu) == 1.0);
    gpu.sm.register_banks = gpu.sm.register_banks * 2.0;
    CHECK(port_turns(hw::InstructionClass::logic, gpu) == 1.0);
}

TEST_CASE("a shuffle takes two turns, and a product a cycle of the special-function unit") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    CHECK(port_turns(hw::InstructionClass::shfl, gpu) == 2.0);
    CHECK(kept_from_special_functions(gpu).value() == doctest::Approx(1.06).epsilon(0.02));
}

}  // namespace warptime::model::machine
