// Ring of stages that are copied far ahead and awaited in order: extra time of a way round the ring.
// A late stage holds up later stages, while an early stage waits for earlier ones. Trips therefore take
// longer than the average wait divided by the stages under way. All stages are there before the first is
// asked for again.
// Ignores: which pieces of a stage come late.
// Source: x(i) = max(x(i - 1) + turn, x(i - ahead) + L(i)) with independent normal L, followed for 20000
// trips. Evidence: docs/mechanisms/evidence.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::steady {

/// Extra cycles of a way round a ring of `ahead` stages beyond the average wait. `from_dram`: share of the
/// waits that are for DRAM.
[[nodiscard]] inline hw::Cycles waits_in_order(int ahead, double from_dram, const hw::Gpu& gpu) {
    // Deviations that each stage more under way adds, by the recurrence above.
    constexpr double of_stage = 0.165;
    const hw::Cycles spread = gpu.l2.round_spread + (gpu.dram.round_spread - gpu.l2.round_spread) * from_dram;
    return spread * (of_stage * gpu.pipeline.stage_spread.value() * std::max(0, ahead - 1));
}

/// Trips, among `trips`, that wait a part of the way round. Trips behind the last whole way do not wait:
/// their stages came with the previous ones.
[[nodiscard]] inline double trips_that_wait(double trips, int ahead) {
    return std::floor(trips / std::max(1, ahead)) * std::max(1, ahead);
}

}  // namespace warptime::model::steady
