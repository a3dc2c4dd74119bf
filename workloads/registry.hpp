// The operators that Warptime knows, each with its parameters: data only; workloads/operation.cpp checks
// against it. One file an operator family (gemm_parameters.cpp, pointwise_parameters.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operation.hpp"

#include <array>
#include <string_view>

namespace warptime::workloads {

/// C[m,n] = A[m,k] B[k,n], with everything that chooses its kernel.
[[nodiscard]] const OperatorInfo& gemm_operator();
/// b.copy_(a)
[[nodiscard]] const OperatorInfo& copy_operator();
/// torch.add(a, b, out=c)
[[nodiscard]] const OperatorInfo& add_operator();

/// Common parameters of operators over arrays, so that their wording is written once.
[[nodiscard]] constexpr ParameterInfo required_size(std::string_view name, std::string_view meaning) {
    return {name, ParameterKind::size, true, "", {}, meaning, true};
}

}  // namespace warptime::workloads
