// PyTorch's dropout: a grid that fills the GPU goes over the vector, with random numbers made on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

namespace warptime::workloads::elementwise {

/// The ideal kernel has the same arithmetic, and a CTA for each part of the vector.
void lower_dropout(const arrays::Sizes& sizes, const arrays::Context& context);

}  // namespace warptime::workloads::elementwise
