// What plain loads and DRAM take together: the busier the DRAM, the longer a load waits, and while warps wait
// they ask for nothing. Ignores: which loads meet in a bank, and writes that wait for none. Source: one open
// queue, whose wait grows as u / (1 - u) with the utilisation u (Kleinrock, Queueing Systems I, 1975,
// section 3.2), closed by u = transfer / time; recorded reads of one to 64 warps an SM follow it with one
// constant (key dram.queue). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"

#include <cmath>

namespace warptime::model::analytical {

/// What the largest of `pieces` exponential times of mean one takes longer than the mean: the sum of 1 / i
/// from 2 on (Renyi 1953). With the mean of DRAM's queues it is what a load waits for the last of its pieces.
[[nodiscard]] constexpr double beyond_the_mean(int pieces) {
    double sum = 0.0;
    for (int i = 2; i <= pieces; ++i) {
        sum += 1.0 / i;
    }
    return sum;
}

/// The same for any number of pieces, none and one included, from the expansion of the harmonic numbers:
/// within a hundredth.
[[nodiscard]] inline double beyond_the_mean_of_many(double pieces) {
    constexpr double euler = 0.57721566490153286;
    if (pieces <= 1.0) return 0.0;
    return std::log(pieces) + euler - 1.0 + 0.5 / pieces - 1.0 / (12.0 * pieces * pieces);
}

/// The same for the pieces of `loads` that went out together. Of a warm set that is lost only in part (`all`
/// false), the pieces of one load come near the average (microbench_l2_halves); of several loads one is lost
/// almost surely, and they wait for the last like those of a set that is lost (microbench_l2_footprint, one
/// and four SMs).
[[nodiscard]] constexpr double wait_of_batch(int pieces, int loads, bool all) {
    return beyond_the_mean(pieces * loads) - beyond_the_mean(all || loads > 1 ? 1 : pieces);
}

/// The time T with T = alone + waits u / (1 - u), u = transfer / T: `alone` without a queue, `transfer` what
/// the memory needs at least, `waits` what all waits take at half utilisation. max(alone, transfer) when
/// waits is 0.
template <class S>
[[nodiscard]] S queued(const S& alone, const S& transfer, const S& waits) {
    const S apart = alone - transfer;
    return (alone + transfer + hw::sqrt(apart * apart + S(4.0) * waits * transfer)) * S(0.5);
}

/// The time T with T = alone + waits u, u = write / T being the share of the time in which the memory writes:
/// `waits` is what all loads wait together that find it writing. `alone` when nothing is written.
template <class S>
[[nodiscard]] S held_by_writes(const S& alone, const S& waits, const S& write) {
    return (alone + hw::sqrt(alone * alone + S(4.0) * waits * write)) * S(0.5);
}

}  // namespace warptime::model::analytical
