// Time of L2 slices that carry out atomics in order, where additions to one place wait for the previous one.
// A place is a sector for floating point. Later requests wait as well, even for other places.
// Ignores: requests of a single pass, which overtake one another, and the turn in which one instruction's
// lanes visit places.
// Source: renewal argument for places drawn at random, without a fitted constant; microbench_atomics
// atomic_global, floating-point additions to 4 and 16 lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace warptime::model::machine {

/// `busy`: time of a slice that waits for nothing. `turns`: time of all additions to one of its `places`, one
/// after another. Let s be a pass, t an awaited addition, m the places. The previous addition to a place lies
/// k additions back with probability (1 - 1/m)^(k-1) / m. The next one then begins t - k s late. A single
/// place takes the larger of both times.
[[nodiscard]] inline double in_order(double busy, double turns, double places) {
    if (!(0.0 < busy)) return turns;
    const double m = places < 1.0 ? 1.0 : places;
    const double ratio = turns * m / busy;
    double waits = 0.0;
    double chance = 1.0 / m;
    constexpr int longest = 64;
    for (int k = 1; k < longest && static_cast<double>(k) < ratio; ++k) {
        waits = waits + chance * (ratio - static_cast<double>(k));
        chance *= 1.0 - 1.0 / m;
    }
    return std::max(busy * (1.0 + waits), turns);
}

}  // namespace warptime::model::machine
