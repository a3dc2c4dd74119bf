// The records of attention and of its backward pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::attention {

[[nodiscard]] const OperatorInfo& attention_operator();
[[nodiscard]] const OperatorInfo& attention_backward_operator();

}  // namespace warptime::workloads::attention
