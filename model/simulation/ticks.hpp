// Simulated time: whole numbers of 2^-28 SM cycles.
// Source: integers, so that sums do not depend on their order and the same input gives the same trace. Cycles
// rather than seconds, because most durations are whole cycles and are then exact; the fraction keeps the
// rounding of one 32-byte sector's time at DRAM below 1e-6 of it. 2^63 ticks are 20 seconds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warptime::model::simulation {

using Ticks = std::int64_t;
inline constexpr Ticks ticks_per_cycle = Ticks{1} << 28;
/// No event lies beyond this; far enough from the largest number that sums cannot overflow.
inline constexpr Ticks end_of_time = Ticks{1} << 61;

/// Rounds to the nearest tick. Throws Error for a negative or infinite duration, or one past the end of time.
[[nodiscard]] Ticks ticks_of(double cycles);
[[nodiscard]] constexpr double cycles_of(Ticks ticks) {
    return static_cast<double>(ticks) / static_cast<double>(ticks_per_cycle);
}

}  // namespace warptime::model::simulation
