// The record of gemm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::gemm {

/// The operator C[m,n] = A[m,k] B[k,n], with every parameter that chooses its kernel.
[[nodiscard]] const OperatorInfo& gemm_operator();

}  // namespace warptime::workloads::gemm
