// Turns that the operands of a multiply-add take at the ports of the register file, where each lane
// multiplies a block of rows by columns. Ignores: how the compiler has named the registers; other
// instructions' operands. Source: each bank reads one register of a warp a cycle and may be one read late
// (loops of FFMA whose operands were counted in their SASS so, a multiplicand marked for reuse being read
// once, take what the count gives within 2 %). A new multiplicand costs a turn where it lies in a bank that
// the same instruction reads already. Going round a block with the two last multiplicands kept on either
// side, an FFMA reads its accumulator and every second one a new multiplicand: counted in the SASS of
// cuBLASLt's kernels, 1290 turns for 1024 FFMA, 635 for 512, 319 for 256. Going down a column, it reads its
// accumulator and its row's multiplicand, and the first of a column a new one as well: recorded blocks
// (microbench_register_operands) take 1 + 1 / rows within 2 % but two, whose rows or accumulators ptxas has
// named so that more of them meet. Integer, half and double instructions of three registers beside
// multiply-adds take a turn and a half on average (microbench_instruction_mix, 8 and 32 multiply-adds beside
// eight others: 1.3 to 2; microbench_instruction_rate and gemm_fp32 come nearer with the same). A shuffle
// beside 32 multiply-adds takes 2.3 slots (ditto): it reads a value and a lane for the path to shared memory.
// A product of mma.sync keeps the special-function unit from 1.1 cycles of work (ditto, ex2 one to one, all
// numbers of warps: 9.1 to 9.2 cycles, of which the unit takes 8), half of what it takes beyond multiplying.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::memory {

/// Whether an instruction of the class reads three registers, none of which stays at the ports.
[[nodiscard]] constexpr bool reads_three(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::mad_s32 || cls == hw::InstructionClass::logic ||
           cls == hw::InstructionClass::shift || cls == hw::InstructionClass::fma_f16x2 ||
           cls == hw::InstructionClass::fma_f64;
}

/// Turns of its sub-partition's ports that an instruction takes beside others: one, or what all banks
/// together take for its registers. Its own unit holds it for longer, but between two for that unit others
/// wait for the ports.
template <class S>
[[nodiscard]] S port_turns(hw::InstructionClass cls, const hw::Gpu<S>& gpu) {
    constexpr double registers = 3.0;
    if (cls == hw::InstructionClass::shfl) return S(2.0);
    return reads_three(cls) ? hw::max(S(1.0), S(registers) / gpu.sm.register_banks.value()) : S(1.0);
}

/// Turns of one instruction; 1 for all but multiply-adds of a block (shape: its rows and columns, and how
/// many after one another share a multiplicand of the columns; 0 where they go round the block).
template <class S>
[[nodiscard]] S operand_turns(const kernel::Op& op, const hw::Gpu<S>& gpu) {
    if (op.cls != hw::InstructionClass::fma_f32 || op.shape[0] <= 1 || op.shape[1] <= 1) return S(1.0);
    const bool round = op.shape[2] == 0;
    const double new_multiplicands = round ? 0.5 : 1.0 / static_cast<double>(op.shape[2]);
    const double others = round ? 1.0 : 2.0;  // registers that it reads beside
    return S(1.0) + S(new_multiplicands * others) / gpu.sm.register_banks.value();
}

/// Cycles of its sub-partition's special-function unit that one mma.sync keeps others from.
template <class S>
[[nodiscard]] hw::Cycles<S> kept_from_special_functions(const hw::Gpu<S>& gpu) {
    return gpu.tensor.mma_sync_overhead * S(0.5);
}

}  // namespace warptime::model::memory
