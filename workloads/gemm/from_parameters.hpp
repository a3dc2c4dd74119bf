// A GEMM and its kernel configuration, read from the text parameters of an operation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"
#include "workloads/operator/operation.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// The numbers along K of which such a product takes a multiple: rows of operands with block scales are whole
/// 16 bytes and whole blocks, and rows of 6-bit numbers 96 (PTX ISA 8.7, tensor maps). 1 without block
/// scales.
[[nodiscard]] int numbers_of_block(const Problem& problem);

/// Throws Error naming the parameter, for example for a leading dimension shorter than a row.
[[nodiscard]] Problem problem_of(const Operation& operation);

/// Does the same as problem_of, but without check_pitches. Leading dimensions that are not given are 0
/// (dense).
[[nodiscard]] Problem read_problem(const Operation& operation);
/// Throws Error for a leading dimension shorter than a row.
void check_pitches(const Problem& problem);

/// The largest value allowed for stages, warps, group_m, split_k and registers.
inline constexpr std::int64_t most_of_a_tile = 1'000'000;

/// The configuration as given; 0 or automatic where the lowering chooses. Needs a cta_tile. Throws Error for
/// a schedule that has no lowering yet.
[[nodiscard]] Config config_of(const Operation& operation, const Problem& problem);

}  // namespace warptime::workloads::gemm
