// The records of the operators that move data: copies with gaps, rows by index, stencils, a matrix by a
// vector.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <vector>

namespace warptime::workloads::movement {

/// All of the family.
[[nodiscard]] std::vector<OperatorInfo> operators();

}  // namespace warptime::workloads::movement
