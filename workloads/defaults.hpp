// What a parameter is when it is not given: the registry's default, or the value worked out from the others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operation.hpp"

#include <string>
#include <string_view>

namespace warptime::workloads {

/// Default of a parameter in this operation: for gemm, dtype_b is dtype, acc_dtype fp32 (int8: int32, fp64:
/// fp64), out_dtype is dtype (fp8: bf16, int8: int32), leading dimensions are packed; else the registry's.
/// Empty where the lowering chooses (a tile, stages). Throws Error for a parameter that the operator does not
/// have.
[[nodiscard]] std::string default_of(const Operation& operation, std::string_view parameter);

/// The value given, or the default.
[[nodiscard]] std::string value_or_default(const Operation& operation, std::string_view parameter);

}  // namespace warptime::workloads
