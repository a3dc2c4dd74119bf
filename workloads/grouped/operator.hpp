// The record of grouped_gemm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::grouped {

[[nodiscard]] const OperatorInfo& grouped_gemm_operator();

}  // namespace warptime::workloads::grouped
