// Clock of launches that follow one another: the highest clock that keeps their power within the board's
// limit.
// Ignores: the controller's transient, and the clock's steps.
// Source: fixed point of power.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/power/power.hpp"

#include <utility>

namespace warptime::model::machine {

/// Lowest clock that the search tries, as a share of boost.
inline constexpr double lowest_clock = 0.1;

/// Highest clock within the power limit. `highest`: the clock without a limit. `time_at(clock)`: time of a
/// launch, which must not rise with the clock.
template <class TimeAt>
[[nodiscard]] hw::Frequency sustained_clock(const Activity& activity, const hw::Frequency& highest,
                                            const hw::Gpu& gpu, TimeAt&& time_at) {
    const auto excess = [&](const hw::Frequency& clock) {
        return watts(activity, hw::Seconds(time_at(clock)), gpu, clock.value() / highest.value()) -
               gpu.power.limit.value();
    };
    const auto plain = [&](double clock) { return excess(hw::Frequency(clock)); };
    double high = highest.value();
    if (plain(high) <= 0.0) return highest;
    double low = lowest_clock * gpu.clock.boost.value();
    if (plain(low) >= 0.0) return hw::Frequency(low);
    // Fourteen halvings narrow the clock to a ten-thousandth.
    constexpr int halvings = 14;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        (plain(middle) > 0.0 ? high : low) = middle;
    }
    // A secant through the last two clocks finishes the search.
    const double slope = (plain(high) - plain(low)) / (high - low);
    return hw::Frequency(low - excess(hw::Frequency(low)) / slope);
}

}  // namespace warptime::model::machine
