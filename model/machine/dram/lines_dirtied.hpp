// Written bytes of a buffer that can leave the L2 again.
// Ignores: which lines are written again, and when.
// Source: recorded additions to small sets, which write nothing to DRAM. Of counted writes to local memory of
// 35, 52 and 69 MB, shares of 0.55, 0.9 and 1.0 leave.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/demand/kept_at_random.hpp"
#include "model/machine/dram/write_back.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// `written`: bytes of all writes to a buffer that has `whole` of them. A buffer that fits stays while it is
/// written again and again. Of a larger buffer, a share leaves by random victims. `apart`: bytes among which
/// writes fall that follow one another, where that is known; 0: all.
[[nodiscard]] inline double lines_dirtied(double written, double whole, const hw::Gpu& gpu,
                                          double apart = 0.0) {
    if (written <= whole) return written;
    const double among = apart > 0.0 ? std::min(apart, whole) : whole;
    const double kept = kept_at_random(among / dirty_capacity_of(gpu).value());
    return whole + (written - whole) * (1.0 - kept);
}

}  // namespace warptime::model::machine
