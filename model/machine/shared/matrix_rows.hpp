// Passes over the banks of shared memory that a kernel's ldmatrix or stmatrix takes.
// An access of pattern `stride` gives the rows of 16 bytes: row i stands i x inner elements from the origin.
// It has inner_extent rows, eight a matrix; with an `outer` step, 32 rows in groups of inner_extent. Pattern
// `listed` gives the row of each lane, in several executions that stand for all. Without such an access the
// layout is conflict-free and the width the widest.
// Ignores: conflicts between different warps.
// Source: bank_conflicts.hpp; PTX ISA 8.7, ldmatrix.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

struct MatrixRows {
    std::int64_t matrices = 4;
    double passes = 4.0;  ///< passes of one instruction; of listed rows, the mean
};

/// Rows and passes of a kernel's ldmatrix or stmatrix.
[[nodiscard]] MatrixRows matrix_rows(const kernel::Kernel& kernel, const kernel::Op& op,
                                     const BankGeometry& banks);

/// True for ldmatrix and stmatrix.
[[nodiscard]] constexpr bool moves_matrices(const kernel::Op& op) {
    return op.cls == kernel::InstructionClass::ldmatrix || op.cls == kernel::InstructionClass::stmatrix;
}

/// Passes that occupy the path between shared memory and a sub-partition. The path takes the passes over the
/// banks. A store also needs one pass for the addresses and one for each matrix's registers. Source:
/// microbench_ldmatrix.
[[nodiscard]] inline double path_passes(const kernel::Op& op, const MatrixRows& rows) {
    const bool store = op.cls == kernel::InstructionClass::stmatrix;
    return store ? std::max(rows.passes, static_cast<double>(rows.matrices + 1)) : rows.passes;
}

}  // namespace warptime::model::machine
