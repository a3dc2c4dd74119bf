// Turns that the operands of a multiply-add take at the ports of the register file, where each lane
// multiplies a block of rows by columns. Ignores: how the compiler has named the registers; other
// instructions' operands. Source: each bank reads one register of a warp a cycle (loops of FFMA whose
// operands were counted in their SASS take max(1, reads of one bank) each, within 2 %); going round a block
// with the two last multiplicands kept on either side, an FFMA reads its accumulator and every second one a
// new multiplicand, which lies in the accumulator's bank once in as many times as there are banks. Counted so
// in the SASS of cuBLASLt's kernels: 1290 turns for 1024 FFMA, 635 for 512, 319 for 256.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::memory {

/// Turns of one instruction; 1 for all but multiply-adds of a block (shape: its rows and columns).
template <class S>
[[nodiscard]] S operand_turns(const kernel::Op& op, const hw::Gpu<S>& gpu) {
    constexpr double new_multiplicands = 0.5;
    const bool block = op.cls == hw::InstructionClass::fma_f32 && op.shape[0] > 1 && op.shape[1] > 1;
    return block ? S(1.0) + S(new_multiplicands) / gpu.sm.register_banks.value() : S(1.0);
}

}  // namespace warptime::model::memory
