// The records of exchanges between GPUs, and of copies between host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <vector>

namespace warptime::workloads::exchange {

[[nodiscard]] std::vector<OperatorInfo> operators();

}  // namespace warptime::workloads::exchange
