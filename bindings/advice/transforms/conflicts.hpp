// Lays arrays in shared memory out so that the lanes of an access fall into different banks.
// Padding puts a few bytes behind each row of 128 bytes or of the pitch that conflicts; a swizzle moves data
// within rows, so that an access takes as few passes as its bytes allow and no memory is added. Ignores: the
// instructions that compute swizzled addresses, and atomics, whose conflicts are of data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::advice {

/// Number of accesses that took more passes over the banks than their bytes need, and were changed.
[[nodiscard]] int swizzle_shared(model::kernel::Kernel& kernel, const hw::Gpu& gpu);

/// The same by padding. `padding`: bytes behind each row, 0 for those of the widest access that conflicts.
/// Static shared memory grows by the padding.
[[nodiscard]] int pad_shared(model::kernel::Kernel& kernel, const hw::Gpu& gpu, std::int64_t padding = 0);

}  // namespace warptime::advice
