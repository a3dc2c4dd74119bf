// Parameters of gemm: the problem, the library that runs it, and the kernel configuration.
// Source of the words: CUTLASS 3 (schedules, cluster, raster), Triton (num_warps, num_stages, GROUP_M), PTX
// ISA 8.7 (instruction names). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operation.hpp"
#include "workloads/operator/parameter.hpp"

#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads::gemm {

inline constexpr std::string_view operator_name = "gemm";

[[nodiscard]] std::span<const ParameterInfo> parameters();

/// dtype_b is dtype, acc_dtype fp32 (int8: int32, fp64: fp64), out_dtype is dtype (fp8: bf16, int8: int32),
/// leading dimensions are packed; empty where the lowering chooses.
[[nodiscard]] std::string default_of(const Operation& operation, std::string_view parameter);

/// Why a given parameter would change nothing: a kernel's where the library chooses, sums of a type that is
/// not modelled, a reduction without splits. Empty where it has an effect.
[[nodiscard]] std::string why_unused(const Operation& operation, std::string_view parameter);

/// The value given, or the default.
[[nodiscard]] std::string value_of(const Operation& operation, std::string_view parameter);

}  // namespace warptime::workloads::gemm
