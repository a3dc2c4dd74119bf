// Elements of half the size, and rows that begin at whole lines.
// Ignores: conversions, and whether the result is exact enough; arrays of indices count as data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::advice {

/// Global and shared memory hold elements of half the bytes, fp32 arithmetic goes by pairs of 16 bits, and
/// matrix instructions take twice the k. False where accesses are of single bytes or of no plain pattern.
[[nodiscard]] bool halve_elements(model::kernel::Kernel& kernel);

/// Constant offsets and the pitch of rows in global memory become multiples of 128 bytes.
[[nodiscard]] bool align_rows(model::kernel::Kernel& kernel);

}  // namespace warptime::advice
