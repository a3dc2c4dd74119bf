// What the L1 still holds of a set that is visited again and again in the same order.
// Ignores: reads of other sets in between. Source: lines fill the sets of the cache evenly as long as they
// fit; those beyond are spread by a hash, so that their number in a set is Poisson distributed; a set with
// one line too many misses all of its lines in turn (least recently used). Recorded chases through 4 to 512
// kB at ten carveouts follow it with four lines a set, less one half (key l1.ways). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include <cmath>

namespace warptime::model::memory {

/// Share of visits that miss, for a set of `footprint` bytes in `room` bytes of L1 with `ways` lines a set:
/// the chance that a line's set got none of the lines beyond is exp(-ways (footprint - room) / room).
[[nodiscard]] inline double missed_in_turn(double footprint, double room, double ways) {
    if (footprint <= room) return 0.0;
    if (room <= 0.0) return 1.0;
    return -std::expm1(-ways * (footprint - room) / room);
}

}  // namespace warptime::model::memory
