// What the 32 lanes of one memory instruction touch: sectors, lines and passes over the banks of the L1.
// Ignores: the value of terms that move the whole warp, which are taken as multiples of a line. Source:
// KERNEL, Access; memory/coalescing and memory/bank_conflicts. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::model::memory {

/// Of one instruction by a warp with `active` of its lanes. `granules`: pieces of 64 bytes, which DRAM
/// delivers.
struct LaneTouch {
    double sectors = 0.0, granules = 0.0, lines = 0.0;
    double passes = 0.0;  ///< over the banks, as shared memory or as data of the L1
};
/// Of an access of a lane pattern (not a collective one).
[[nodiscard]] LaneTouch touch_of(const kernel::Kernel& kernel, const kernel::Access& access, double active);

}  // namespace warptime::model::memory
