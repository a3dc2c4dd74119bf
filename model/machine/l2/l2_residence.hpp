// Share of a set that the L2 still holds, read once and then visited again in another order.
// Ignores: which partition holds a line, and lines that the visits themselves replace.
// Source: a cache with victims out of order keeps a fixed number of lines of a set that outgrows it. Key
// l2.retained, from recorded chases through 8 kB to 1 GB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace warptime::model::machine {

/// Share of visits that miss a set of `footprint` bytes. No visit misses up to `retained` of `capacity`;
/// beyond, all bytes that do not fit miss.
[[nodiscard]] inline double missed_after_sweep(double footprint, double capacity, double retained) {
    const double kept = capacity * retained;
    return footprint > kept ? 1.0 - kept / footprint : 0.0;
}

}  // namespace warptime::model::machine
