// Softmax and its gradient with a warp for each row, which its lanes hold in registers.
// Source: PersistentSoftmax.cuh of PyTorch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

namespace warptime::workloads::reductions {

enum class WarpSoftmax : std::uint8_t { forward, log_forward, backward };

void lower_warp_softmax(const arrays::Sizes& sizes, WarpSoftmax kind, const arrays::Context& context);

}  // namespace warptime::workloads::reductions
