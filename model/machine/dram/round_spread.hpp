// Delay of a kernel's last warp behind the median warp, since no two rounds of loads take the same time.
// Independent rounds add their variances, and a kernel ends with the slowest of many warps.
// Ignores: SMs that are slower in every round, warps that speed up once others have ended, and straight code.
// Source: expected maximum of N normal variables (Cramer 1946, section 28.6); stamps of every round and warp
// (microbench_waves).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Expected maximum of `count` standard normal variables; 0 for one. Within a tenth from ten on, and a
/// fiftieth from a thousand on.
[[nodiscard]] inline double largest_of_normal(double count) {
    if (count < 2.0) return 0.0;
    constexpr double euler = 0.57721566490153286;
    constexpr double four_pi = 12.566370614359172;
    const double log = std::log(count);
    const double root = std::sqrt(2.0 * log);
    return std::max(0.0,
                    root - (std::log(std::max(log, 1.0)) + std::log(four_pi) - 2.0 * euler) / (2.0 * root));
}

/// Standard deviation of a wait in DRAM's queues at utilisation `busy` (M/M/1, Kleinrock, Queueing Systems I,
/// 1975, section 5.7).
[[nodiscard]] inline hw::Cycles spread_of_queue(double busy, const hw::Gpu& gpu) {
    const double idle = std::max(1e-9, 1.0 - busy);
    return gpu.dram.queue * (std::sqrt(std::max(0.0, busy * (2.0 - busy))) / idle);
}

/// Delay of the last warp; `spread` is the standard deviation of one round.
[[nodiscard]] inline hw::Cycles last_of_warps(double rounds, double warps, const hw::Cycles& spread) {
    return spread * (std::sqrt(std::max(0.0, rounds)) * largest_of_normal(warps));
}

}  // namespace warptime::model::machine
