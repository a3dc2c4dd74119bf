// What a board's power limit leaves of clocks: the highest share of them whose power is within the limit.
// Ignores: the controller's transient, the clock's steps, and temperature.
// Source: regula falsi with the Illinois weights (Dowell and Jarratt, BIT 11, 1971).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace warptime::model::machine {

/// Lowest share that the search tries.
inline constexpr double lowest_share = 0.1;

/// Highest share of the clocks, at most 1, whose power is within `limit` watts, to the part `near` of the
/// limit. `watts_at(share)` must not fall with the share; it is asked for 1 first, and last for the share
/// that is returned. For work that follows itself the power is the average over it, and all kernels of it run
/// at the same share of the clocks that they have without a limit.
template <class WattsAt>
[[nodiscard]] double held_share(WattsAt&& watts_at, double limit, double near) {
    constexpr int most_rounds = 30;
    double high = 1.0, above = watts_at(high) - limit;
    if (above <= 0.0) return high;
    // No power at all is assumed at the lower end, so the first secant stays above the answer.
    double low = lowest_share, below = -limit;
    double share = high;
    int same_end = 0;  // how often in a row the answer lay below (above 0) or above the share
    for (int round = 0; round < most_rounds; ++round) {
        share = high - (high - low) * above / (above - below);
        const double excess = watts_at(share) - limit;
        if (std::abs(excess) <= near * limit || high - low <= near * lowest_share) return share;
        // Illinois: an end that stays twice loses half of its weight.
        if (excess > 0.0) {
            high = share;
            above = excess;
            if (same_end > 0) below *= 0.5;
            same_end = 1;
        } else {
            low = share;
            below = excess;
            if (same_end < 0) above *= 0.5;
            same_end = -1;
        }
    }
    return share;
}

}  // namespace warptime::model::machine
