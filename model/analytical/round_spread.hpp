// What the last warp of a kernel takes longer than the median one, because no two rounds of loads take the
// same time: independent rounds add their variances, and a kernel ends with the slowest of many warps.
// Ignores: SMs that are slower in every round, warps that run faster once the others have ended, and straight
// code. Source: the expected maximum of N normal variables (Cramer 1946, section 28.6); stamps of every round
// and warp of grids of one to four CTAs an SM over warm, clean and dirty L2 grow with the root of 8 to 256
// rounds (microbench_waves, loops of one to 128 rounds). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "hw/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::analytical {

/// Expected maximum of `count` standard normal variables, within a tenth from ten on, a fiftieth from a
/// thousand; 0 for one.
[[nodiscard]] inline double largest_of_normal(double count) {
    if (count < 2.0) return 0.0;
    constexpr double euler = 0.57721566490153286;
    constexpr double four_pi = 12.566370614359172;
    const double log = std::log(count);
    const double root = std::sqrt(2.0 * log);
    return std::max(0.0,
                    root - (std::log(std::max(log, 1.0)) + std::log(four_pi) - 2.0 * euler) / (2.0 * root));
}

/// `spread`: standard deviation of one round.
template <class S>
[[nodiscard]] hw::Cycles<S> last_of_warps(double rounds, double warps, const hw::Cycles<S>& spread) {
    return spread * S(std::sqrt(std::max(0.0, rounds)) * largest_of_normal(warps));
}

}  // namespace warptime::model::analytical
