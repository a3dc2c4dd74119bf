// Changes of what is computed where: no reads of what the kernel before has at hand, cheaper functions,
// matrix products. Ignores: registers, and how exact cheaper functions and products are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::advice {

/// Without the loads of the first input, for kernels that stream through memory: contiguous, no loop over
/// shared memory.
[[nodiscard]] bool fuse_with_producer(model::kernel::Kernel& kernel);

/// Each special function is one instruction of the special function unit and a product, without the
/// correcting arithmetic behind it.
[[nodiscard]] bool use_fast_functions(model::kernel::Kernel& kernel);

/// Multiply-adds of two loaded values become matrix instructions, 16x8x8 of TF32, or 16x8x32 of bytes where a
/// word holds four. The grid shrinks by as many products as an instruction then makes.
[[nodiscard]] bool multiply_by_matrices(model::kernel::Kernel& kernel);

}  // namespace warptime::advice
