// Clock of work that repeats for seconds: what the board's power limit leaves of the clocks of its kernels.
// The limit holds the average power over many kernels, and all of them run at the same share of the clock
// that each would have without a limit.
// Ignores: the controller's transient, the clock's steps, and temperature.
// Source: fixed point of model/machine/power/power.hpp; sustained steps in validate/recorded/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace warptime::model::system {

/// Lowest share that the search tries.
inline constexpr double lowest_share = 0.1;

/// Highest share of the clocks, at most 1, whose average power is within `limit` watts, to a thousandth of
/// the limit. `watts_at(share)` must not fall with the share; it is asked for 1 first, and last for the share
/// that is returned.
template <class WattsAt>
[[nodiscard]] double held_share(WattsAt&& watts_at, double limit) {
    constexpr double near = 1e-3;
    constexpr int most_rounds = 20;
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

}  // namespace warptime::model::system
