// Running sums over rows: PyTorch's kernel, in which threads along x scan blocks of a row by a tree.
// Source: aten/src/ATen/native/cuda/ScanUtils.cuh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

namespace warptime::workloads::reductions {

void lower_cumsum(const arrays::Sizes& sizes, const arrays::Context& context);

}  // namespace warptime::workloads::reductions
