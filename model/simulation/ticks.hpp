// Simulated time in whole numbers of 2^-28 SM cycles.
// Integers make sums independent of their order, so the same input gives the same trace. Most durations are
// whole cycles and so are exact. The fraction keeps the rounding of one 32-byte sector's DRAM time below
// 1e-6. 2^63 ticks are 20 seconds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warptime::model::simulation {

using Ticks = std::int64_t;
inline constexpr Ticks ticks_per_cycle = Ticks{1} << 28;
/// Latest time of an event; sums of such times cannot overflow.
inline constexpr Ticks end_of_time = Ticks{1} << 61;

/// Rounds to the nearest tick. Throws Error for a negative or infinite duration, or one past the end of time.
[[noreturn]] void refuse_duration(double cycles);
[[nodiscard]] inline Ticks ticks_of(double cycles) {
    const double ticks = cycles * static_cast<double>(ticks_per_cycle);
    if (!(ticks >= 0.0 && ticks < static_cast<double>(end_of_time))) refuse_duration(cycles);
    const auto whole = static_cast<Ticks>(ticks);  // lround is a call, and events round often
    return whole + (ticks - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}
[[nodiscard]] constexpr double cycles_of(Ticks ticks) {
    return static_cast<double>(ticks) / static_cast<double>(ticks_per_cycle);
}

}  // namespace warptime::model::simulation
