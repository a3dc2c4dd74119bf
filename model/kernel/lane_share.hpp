// Share of a warp's lanes that are active at a place, where the number of lanes follows from loops and warps.
// An op without an active lane issues and does nothing else; a branch without one is not taken.
// Ignores: which lanes they are (the first ones).
// Source: README.md, Roles and their bodies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warptime::model::kernel {

/// `lanes`: place in Kernel::lane_counts, or no_id for all lanes.
[[nodiscard]] inline double lane_share(const Kernel& kernel, Id lanes, const Coordinates& at) {
    if (lanes == no_id) return 1.0;
    const std::int64_t count = evaluate(kernel, kernel.lane_counts[static_cast<std::size_t>(lanes)], at);
    return static_cast<double>(std::clamp<std::int64_t>(count, 0, 32)) / 32.0;
}

}  // namespace warptime::model::kernel
