// A ring of stages that are copied far ahead and waited for one after the other: a stage that comes late
// holds up those behind it, a stage that comes early waits for those before it, so that trips take longer
// than the average wait shared out among the stages under way. Before the first is asked for again all are
// there. Ignores: which pieces of a stage come late. Source: x(i) = max(x(i - 1) + turn, x(i - ahead) + L(i))
// with independent normal L, followed for 20000 trips (turns of 60 to 150 cycles, waits of 1200 with
// deviations of 120 to 240): each stage more under way makes the way round 0.12 to 0.17 deviations longer.
// Triton's loops that wait for DRAM (triton_bf16, triton_bf16_second, fit and development rows): tiles
// recorded with several numbers of stages take 46 to 70 cycles a way round more for each of them, of wgmma
// and mma.sync alike, as much as if the wait of all warps for a stage spread half again as far as one warp's
// for its loads. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::analytical {

/// What the way round a ring of `ahead` stages takes beyond the average wait; `from_dram`: share of the waits
/// that are for DRAM.
template <class S>
[[nodiscard]] hw::Cycles<S> waits_in_order(int ahead, const S& from_dram, const hw::Gpu<S>& gpu) {
    constexpr double of_stage = 0.165, of_all_warps = 1.5;
    const hw::Cycles<S> spread =
        gpu.l2.round_spread + (gpu.dram.round_spread - gpu.l2.round_spread) * from_dram;
    return spread * S(of_stage * of_all_warps * std::max(0, ahead - 1));
}

/// Of `trips`, those that take a part of the way round: all but the ones behind the last whole way, whose
/// stages have come with the one before.
[[nodiscard]] inline double trips_that_wait(double trips, int ahead) {
    return std::floor(trips / std::max(1, ahead)) * std::max(1, ahead);
}

}  // namespace warptime::model::analytical
