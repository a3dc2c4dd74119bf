// What a cache with random victims keeps of a set that is visited in turn.
// Ignores: sets of the cache, and visits that come sooner than others.
// Source: a line survives m misses, each of which takes one of n lines, with the chance (1 - 1 / n)^m, or
// exp(-m / n).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace warptime::model::machine {

/// Share of visits that hit in a cache with random victims. The visitor goes again and again through a set
/// `fill` times the cache's size. A line survives all misses of a round with the chance h = exp(-fill (1 -
/// h)).
[[nodiscard]] inline double kept_at_random(double fill) {
    if (fill <= 1.0) return 1.0;
    double kept = 0.0;
    constexpr int rounds = 12;
    for (int i = 0; i < rounds; ++i) {
        const double stays = std::exp(-fill * (1.0 - kept));
        kept += (stays - kept) / (1.0 - fill * stays);
    }
    return kept;
}

}  // namespace warptime::model::machine
