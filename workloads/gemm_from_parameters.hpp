// A GEMM and its kernel configuration, read from the text parameters of an operation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"
#include "workloads/operation.hpp"

#include <cstdint>

namespace warptime::workloads {

/// Throws Error naming the parameter, as for a leading dimension shorter than a row.
[[nodiscard]] gemm::Problem gemm_problem_of(const Operation& operation);

/// The same without check_gemm_pitches. Leading dimensions that are not given are 0, dense.
[[nodiscard]] gemm::Problem read_gemm_problem(const Operation& operation);
/// Throws Error for a leading dimension shorter than a row.
void check_gemm_pitches(const gemm::Problem& problem);

/// The largest stages, warps, group_m, split_k and registers.
inline constexpr std::int64_t most_of_a_tile = 1'000'000;

/// What was given, 0 or automatic where the lowering chooses. Needs a cta_tile. Throws Error for a schedule
/// that is not lowered yet.
[[nodiscard]] gemm::Config gemm_config_of(const Operation& operation, const gemm::Problem& problem);

}  // namespace warptime::workloads
