// The records of the operators that pass once over flat arrays: copy and add.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::elementwise {

/// b.copy_(a)
[[nodiscard]] const OperatorInfo& copy_operator();
/// torch.add(a, b, out=c)
[[nodiscard]] const OperatorInfo& add_operator();

}  // namespace warptime::workloads::elementwise
