// The records of the operators that reduce, normalize, scan or order the rows of a matrix.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <vector>

namespace warptime::workloads::reductions {

/// All of the family.
[[nodiscard]] std::vector<OperatorInfo> operators();

}  // namespace warptime::workloads::reductions
