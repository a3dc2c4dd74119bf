// Time of plain loads and DRAM together: busy DRAM makes loads wait, and waiting warps ask for nothing.
// Ignores: loads that meet in a bank, and writes that wait for no load.
// Source: one open queue with wait u / (1 - u) at utilisation u (Kleinrock, Queueing Systems I, 1975, section
// 3.2). It is closed by u = transfer / time. Key dram.queue, from recorded reads of one to 64 warps an SM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace warptime::model::machine {

/// Excess of the largest of `pieces` exponential times with mean one: the sum of 1 / i from 2 on (Renyi
/// 1953). Times the mean of DRAM's queues it is a load's wait for its last piece.
[[nodiscard]] constexpr double beyond_the_mean(int pieces) {
    double sum = 0.0;
    for (int i = 2; i <= pieces; ++i) {
        sum += 1.0 / i;
    }
    return sum;
}

/// Expansion of `beyond_the_mean` for any real number of pieces, none and one included; within a hundredth.
[[nodiscard]] inline double beyond_the_mean_of_many(double pieces) {
    constexpr double euler = 0.57721566490153286;
    if (pieces <= 1.0) return 0.0;
    return std::log(pieces) + euler - 1.0 + 0.5 / pieces - 1.0 / (12.0 * pieces * pieces);
}

/// Excess wait for the pieces of `loads` issued together. A warm set may be lost only in part (`all` false).
/// Pieces of one load then come near the average. Of several loads one is almost surely lost, so they wait as
/// for a lost set. Source: microbench_l2_halves; microbench_l2_footprint, one and four SMs.
[[nodiscard]] constexpr double wait_of_batch(int pieces, int loads, bool all) {
    return beyond_the_mean(pieces * loads) - beyond_the_mean(all || loads > 1 ? 1 : pieces);
}

/// Solves T = alone + waits u / (1 - u) with u = transfer / T. `alone`: time without a queue; `transfer`:
/// least time of the memory; `waits`: time of all waits at half utilisation. Gives max(alone, transfer) when
/// waits is 0.
[[nodiscard]] inline double queued(double alone, double transfer, double waits) {
    const double apart = alone - transfer;
    return (alone + transfer + std::sqrt(apart * apart + 4.0 * waits * transfer)) * 0.5;
}

/// Solves T = alone + waits u with u = write / T, the memory's share of time for writes. `waits`: total wait
/// of all loads that find it writing. Gives `alone` when nothing is written.
[[nodiscard]] inline double held_by_writes(double alone, double waits, double write) {
    return (alone + std::sqrt(alone * alone + 4.0 * waits * write)) * 0.5;
}

}  // namespace warptime::model::machine
