// What slices of the L2 take that carry out atomics in the order in which they come, where additions to one
// place (floating point, to one sector) wait for the one before: those behind wait with them, though for
// other places. Ignores: requests of a single pass, which overtake one another (a lane on each line: no
// longer than integers), and that the lanes of one instruction go round the places in turn. Source: renewal
// argument for places drawn at random; microbench_atomics atomic_global, additions in floating point to 4 and
// 16 lines, and to the two sectors of one. No constant is fitted to it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"

namespace warptime::model::memory {

/// `busy`: of a slice that waits for nothing; `turns`: of all additions to one of its `places`, one after
/// another. An addition whose place was last k additions ago, with probability (1 - 1/m)^(k-1) / m of m
/// places, begins t - k s later than it might, with s the pass and t the addition that is waited for. The
/// larger of both for a single place.
template <class S>
[[nodiscard]] S in_order(const S& busy, const S& turns, double places) {
    if (!(S(0.0) < busy)) return turns;
    const double m = places < 1.0 ? 1.0 : places;
    const S ratio = turns * S(m) / busy;
    S waits(0.0);
    double chance = 1.0 / m;
    constexpr int longest = 64;
    for (int k = 1; k < longest && S(static_cast<double>(k)) < ratio; ++k) {
        waits = waits + S(chance) * (ratio - S(static_cast<double>(k)));
        chance *= 1.0 - 1.0 / m;
    }
    return hw::max(busy * (S(1.0) + waits), turns);
}

}  // namespace warptime::model::memory
