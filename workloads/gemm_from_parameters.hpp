// A GEMM and its kernel configuration, read from the text parameters of an operation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"
#include "workloads/operation.hpp"

namespace warptime::workloads {

/// Throws Error naming the parameter, as for a leading dimension shorter than a row.
[[nodiscard]] gemm::Problem gemm_problem_of(const Operation& operation);

/// What was given, 0 or automatic where the lowering chooses. Needs a cta_tile. Throws Error for a schedule
/// that is not lowered yet.
[[nodiscard]] gemm::Config gemm_config_of(const Operation& operation, const gemm::Problem& problem);

}  // namespace warptime::workloads
