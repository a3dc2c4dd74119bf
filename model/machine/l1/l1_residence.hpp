// Share of a set that the L1 still holds when the set is visited repeatedly in the same order.
// Ignores: reads of other sets in between.
// Source: lines fill the cache's sets evenly while they fit; a hash spreads the lines beyond, so their number
// in a set is Poisson distributed. A set with one line too many misses all its lines in turn (least recently
// used). Key cache.ways comes from recorded chases through 4 to 512 kB at ten carveouts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace warptime::model::machine {

/// Share of visits that miss, for `footprint` bytes in `room` bytes of L1 with `ways` lines a set. A line's
/// set received none of the lines beyond with chance exp(-ways (footprint - room) / room).
[[nodiscard]] inline double missed_in_turn(double footprint, double room, double ways) {
    if (footprint <= room) return 0.0;
    if (room <= 0.0) return 1.0;
    return -std::expm1(-ways * (footprint - room) / room);
}

}  // namespace warptime::model::machine
