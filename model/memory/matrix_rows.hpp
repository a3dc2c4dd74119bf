// Passes over the banks of shared memory that an ldmatrix or stmatrix takes, as a kernel describes it.
// Ignores: conflicts between different warps. An access whose pattern is `stride` gives the rows of 16 bytes:
// row i stands i x inner elements from the origin and there are inner_extent of them, eight a matrix. Without
// such an access the layout is free of conflicts and the width the widest. Source: bank_conflicts.hpp; PTX
// ISA 8.7, ldmatrix. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::memory {

struct MatrixRows {
    std::int64_t matrices = 4;
    std::int64_t passes = 4;  ///< of one instruction
};

/// Of an ldmatrix or stmatrix of the kernel.
[[nodiscard]] MatrixRows matrix_rows(const kernel::Kernel& kernel, const kernel::Op& op);

/// Whether an op is one of the two.
[[nodiscard]] constexpr bool moves_matrices(const kernel::Op& op) {
    return op.cls == kernel::InstructionClass::ldmatrix || op.cls == kernel::InstructionClass::stmatrix;
}

/// Passes that the path between shared memory and a sub-partition is taken by: those over the banks, and of a
/// store at least the addresses and one for each matrix's registers (recorded rows of microbench_ldmatrix).
[[nodiscard]] inline std::int64_t path_passes(const kernel::Op& op, const MatrixRows& rows) {
    const bool store = op.cls == kernel::InstructionClass::stmatrix;
    return store && rows.passes < rows.matrices + 1 ? rows.matrices + 1 : rows.passes;
}

}  // namespace warptime::model::memory
