// The record of gemm. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::gemm {

/// C[m,n] = A[m,k] B[k,n], with everything that chooses its kernel.
[[nodiscard]] const OperatorInfo& gemm_operator();

}  // namespace warptime::workloads::gemm
