// Share of some lines that the L2 still holds after other bytes have come.
// Ignores: which partition holds a line, and the order of sets.
// Source: a partition keeps the lines that its SMs have read, and each of them may have a copy of every line
// (l2_places.hpp); recorded sequences of kernels (docs/mechanisms/l2.md, Between kernels). An L2 of one
// partition has no copies: there the law of sets read in turn holds (products on an L40S, the same page).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l2/l2_places.hpp"
#include "model/machine/l2/l2_room.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// The part of some bytes that the L2 still holds after so many bytes have come since, themselves included.
/// All of them up to what a partition can keep, since each may hold a copy of every line. Of several
/// partitions none are left beyond the capacity; one loses whole sets of lines as soon as they overflow.
[[nodiscard]] inline double kept_share(double since, const hw::Gpu& gpu) {
    if (gpu.l2.partitions.value() <= 1.0) return 1.0 - places_in_turn({since, 1.0}, gpu).dram;
    const double capacity = gpu.l2.capacity.value();
    const double surely = room_for_all(gpu);
    if (since <= surely) return 1.0;
    return std::clamp((capacity - since) / (capacity - surely), 0.0, 1.0);
}

/// The part of a warm set of `own` bytes that launches between two of its runs have pushed out. Nothing if
/// there are none: whether the set alone fits is known.
[[nodiscard]] inline double lost_between(double between, double own, const hw::Gpu& gpu) {
    return between > 0.0 ? 1.0 - kept_share(between + own, gpu) : 0.0;
}

/// The part of a buffer of `own` bytes, left by an earlier step, that is lost while a kernel of `touched`
/// bytes reads it: on average half of the kernel has come, and `since` bytes of steps between.
[[nodiscard]] inline double lost_since_left(double own, double touched, double since, const hw::Gpu& gpu) {
    return 1.0 - kept_share(0.5 * (own + touched) + since, gpu);
}

}  // namespace warptime::model::machine
