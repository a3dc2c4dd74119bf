// The record of conv2d.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::convolution {

[[nodiscard]] const OperatorInfo& conv2d_operator();

}  // namespace warptime::workloads::convolution
