// Turns of the register file's ports that an instruction's operands take, where lanes multiply blocks of rows
// by columns. Each bank reads one register of a warp a cycle; one read may come late. A new multiplicand
// costs a turn if its bank already serves the same instruction. Blocks go round, keeping the last two
// multiplicands, or down a column, keeping the column's multiplicand.
// Ignores: the compiler's naming of registers, and other instructions' operands.
// Source: FFMA operands counted in SASS; microbench_register_operands, microbench_instruction_mix. Evidence:
// docs/mechanisms/issue-and-pipes.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// True if an instruction of the class reads three registers, none of which stays at the ports.
[[nodiscard]] constexpr bool reads_three(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::mad_s32 || cls == hw::InstructionClass::mad_wide_s32 ||
           cls == hw::InstructionClass::logic || cls == hw::InstructionClass::shift ||
           cls == hw::InstructionClass::fma_f16x2 || cls == hw::InstructionClass::fma_f64;
}

/// Turns of its sub-partition's ports that an instruction takes from others: one, or the turns that its
/// registers need over all banks. Its unit holds it longer, but only the turns at the ports delay other
/// instructions.
[[nodiscard]] inline double port_turns(hw::InstructionClass cls, const hw::Gpu& gpu) {
    constexpr double registers = 3.0;
    if (cls == hw::InstructionClass::shfl) return 2.0;
    return reads_three(cls) ? std::max(1.0, registers / gpu.sm.register_banks.value()) : 1.0;
}

/// Turns of one instruction; 1 for all but multiply-adds of a block. The shape gives rows, columns and
/// multiply-adds in a row that share a column's multiplicand; 0 where they go round the block.
[[nodiscard]] inline double operand_turns(const kernel::Op& op, const hw::Gpu& gpu) {
    if (op.cls != hw::InstructionClass::fma_f32 || op.shape[0] <= 1 || op.shape[1] <= 1) return 1.0;
    const bool round = op.shape[2] == 0;
    const double new_multiplicands = round ? 0.5 : 1.0 / static_cast<double>(op.shape[2]);
    const double others = round ? 1.0 : 2.0;  // further registers read by the instruction
    return 1.0 + (new_multiplicands * others) / gpu.sm.register_banks.value();
}

/// Cycles of its sub-partition's special-function unit that one mma.sync blocks for other instructions.
[[nodiscard]] inline hw::Cycles kept_from_special_functions(const hw::Gpu& gpu) {
    return gpu.tensor.mma_sync_overhead * 0.5;
}

}  // namespace warptime::model::machine
