// What one matrix instruction multiplies, and what it reads from shared memory.
// Ignores: sparsity. Source: PTX ISA 8.7, wgmma.mma_async (B, and A unless it is in registers).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::model::kernel {

/// FLOP of one instruction as one warp (mma.sync) or one warpgroup (wgmma) issues it.
[[nodiscard]] inline double matrix_flop(const Op& op) {
    return 2.0 * op.shape[0] * op.shape[1] * op.shape[2];
}

/// Operand bytes that one warpgroup's wgmma reads; A comes from registers when `shared_operand` is false.
[[nodiscard]] inline double wgmma_operand_bytes(const Op& op) {
    const int rows = op.shape[1] + (op.shared_operand ? op.shape[0] : 0);
    return static_cast<double>(rows) * op.shape[2] * hw::bytes_of(op.dtype);
}

}  // namespace warptime::model::kernel
