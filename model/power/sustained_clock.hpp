// The clock of launches that follow one another: the highest at which their power stays within the board's
// limit. Ignores: how the controller gets there, and the clock's steps. Source: fixed point of power.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "model/power/power.hpp"

#include <utility>

namespace warptime::model::power {

/// Clocks lower than this part of boost are not looked for.
inline constexpr double lowest_clock = 0.1;

/// `highest`: the clock without a limit. `time_at(clock)`: time of a launch, which may only fall with the
/// clock.
template <class S, class TimeAt>
[[nodiscard]] hw::Frequency<S> sustained_clock(const Activity<S>& activity, const hw::Frequency<S>& highest,
                                               const hw::Gpu<S>& gpu, TimeAt&& time_at) {
    const auto excess = [&](const hw::Frequency<S>& clock) {
        return watts(activity, hw::Seconds<S>(time_at(clock)), clock, gpu,
                     S(clock.value() / highest.value())) -
               gpu.power.limit.value();
    };
    const auto plain = [&](double clock) { return hw::value_of(excess(hw::Frequency<S>(S(clock)))); };
    double high = hw::value_of(highest);
    if (plain(high) <= 0.0) return highest;
    double low = lowest_clock * hw::value_of(gpu.clock.boost);
    if (plain(low) >= 0.0) return hw::Frequency<S>(S(low));
    // Halved to a ten-thousandth of the clock.
    constexpr int halvings = 14;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        (plain(middle) > 0.0 ? high : low) = middle;
    }
    // One step of Newton's method gives the rest, and the derivatives of the fixed point with it.
    const double slope = (plain(high) - plain(low)) / (high - low);
    return hw::Frequency<S>(S(low) - excess(hw::Frequency<S>(S(low))) / S(slope));
}

}  // namespace warptime::model::power
