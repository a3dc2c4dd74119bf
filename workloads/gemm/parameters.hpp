// Parameters of gemm: the problem, the library that runs it, and the kernel configuration.
// Source of the words: CUTLASS 3 (schedules, cluster, raster), Triton (num_warps, num_stages, GROUP_M), PTX
// ISA 8.7 (instruction names).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operation.hpp"
#include "workloads/operator/parameter.hpp"

#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads::gemm {

inline constexpr std::string_view operator_name = "gemm";

[[nodiscard]] std::span<const ParameterInfo> parameters();

/// Numbers along K that share a scale in products of this type: 16 of nvfp4, 32 of mx types; 0: no scales
/// (PTX ISA 8.7, block scaling).
[[nodiscard]] int scale_block_of(std::string_view dtype);

/// Default of a parameter. dtype_b is dtype. acc_dtype is fp32 (int8: int32, fp64: fp64). out_dtype is dtype
/// (fp8 and types with block scales: bf16, int8: int32). Leading dimensions are packed. Empty where the
/// lowering chooses.
[[nodiscard]] std::string default_of(const Operation& operation, std::string_view parameter);

/// The reason why a given parameter would change nothing. Examples: a kernel's parameter where the library
/// chooses, sums of a type that is not modelled, a reduction without splits. Empty where the parameter has an
/// effect.
[[nodiscard]] std::string why_unused(const Operation& operation, std::string_view parameter);

/// The given value, or the default.
[[nodiscard]] std::string value_of(const Operation& operation, std::string_view parameter);

}  // namespace warptime::workloads::gemm
