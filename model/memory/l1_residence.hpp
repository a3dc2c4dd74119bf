// What the L1 still holds of a set that is visited again and again in the same order.
// Ignores: reads of other sets in between. Source: recorded chases and streams through 4 to 512 kB at ten
// carveouts follow a cache of two ways with the lines spread evenly over its sets: one line too many in a
// set, and all three of it miss in turn (LRU). SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace warptime::model::memory {

/// Share of visits that miss, for a set of `footprint` bytes in `room` bytes of L1.
[[nodiscard]] inline double missed_in_turn(double footprint, double room) {
    if (footprint <= room) return 0.0;
    if (room <= 0.0) return 1.0;
    constexpr double ways = 2.0;
    const double over = (footprint - room) / room;
    return std::min(1.0, (ways + 1.0) * over / (1.0 + over));
}

}  // namespace warptime::model::memory
