// Stencils, and a matrix times a vector: kernels that read neighbours or whole rows for each result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

namespace warptime::workloads::movement {

/// A star of `radius` along each axis over a square or a cube; each thread has one vector of results.
void lower_stencil(const arrays::Sizes& sizes, int axes, const arrays::Context& context);
void lower_gemv(const arrays::Sizes& sizes, const arrays::Context& context);

}  // namespace warptime::workloads::movement
