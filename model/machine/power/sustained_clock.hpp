// Clock of launches that follow one another: the highest clock that keeps their power within the board's
// limit.
// Ignores: the controller's transient, and the clock's steps.
// Source: fixed point of power.hpp (held_share.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/power/held_share.hpp"
#include "model/machine/power/power.hpp"

namespace warptime::model::machine {

/// Highest clock within the power limit. `highest`: the clock without a limit. `time_at(clock)`: time of a
/// launch, which must not rise with the clock.
template <class TimeAt>
[[nodiscard]] hw::Frequency sustained_clock(const Activity& activity, const hw::Frequency& highest,
                                            const hw::Gpu& gpu, TimeAt&& time_at) {
    constexpr double near = 1e-6;
    const auto watts_at = [&](double share) {
        return watts(activity, hw::Seconds(time_at(highest * share)), gpu, share);
    };
    return highest * held_share(watts_at, gpu.power.limit.value(), near);
}

}  // namespace warptime::model::machine
