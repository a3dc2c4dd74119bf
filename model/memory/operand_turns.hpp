// Turns that the operands of a multiply-add take at the ports of the register file, where each lane
// multiplies a block of rows by columns. Ignores: how the compiler has named the registers; other
// instructions' operands. Source: each bank reads one register of a warp a cycle (loops of FFMA whose
// operands were counted in their SASS take max(1, reads of one bank) each, within 2 %); going round a block
// with the two last multiplicands kept on either side, an FFMA reads its accumulator and every second one a
// new multiplicand, which lies in the accumulator's bank once in as many times as there are banks. Counted so
// in the SASS of cuBLASLt's kernels: 1290 turns for 1024 FFMA, 635 for 512, 319 for 256.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::model::memory {

inline constexpr double register_banks = 2.0;

/// Turns of one instruction; 1 for all but multiply-adds of a block (shape: its rows and columns).
[[nodiscard]] inline double operand_turns(const kernel::Op& op) {
    constexpr double new_multiplicands = 0.5;
    const bool block = op.cls == hw::InstructionClass::fma_f32 && op.shape[0] > 1 && op.shape[1] > 1;
    return block ? 1.0 + new_multiplicands / register_banks : 1.0;
}

}  // namespace warptime::model::memory
