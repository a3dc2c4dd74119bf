// Share of some lines that the L2 still holds after other bytes have come.
// Ignores: which partition holds a line, and the order of sets.
// Source: a partition keeps the lines that its SMs have read, and each of them may have a copy of every line
// (l2_places.hpp); recorded sequences of kernels (docs/mechanisms/l2.md, Between kernels).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l2/l2_room.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// The part of some bytes that the L2 still holds after so many bytes have come since, themselves included.
/// All of them up to what a partition can keep, since each may hold a copy of every line; none beyond the
/// capacity.
[[nodiscard]] inline double kept_share(double since, const hw::Gpu& gpu) {
    const double capacity = gpu.l2.capacity.value();
    const double surely = room_for_all(gpu);
    if (since <= surely) return 1.0;
    return std::clamp((capacity - since) / (capacity - surely), 0.0, 1.0);
}

}  // namespace warptime::model::machine
