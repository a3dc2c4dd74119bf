// The records of the operators that work element by element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <vector>

namespace warptime::workloads::elementwise {

/// b.copy_(a)
[[nodiscard]] const OperatorInfo& copy_operator();
/// torch.add(a, b, out=c)
[[nodiscard]] const OperatorInfo& add_operator();

/// All of the family.
[[nodiscard]] std::vector<OperatorInfo> operators();

}  // namespace warptime::workloads::elementwise
