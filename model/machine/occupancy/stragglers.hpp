// How long the last CTA runs on when all others have ended, where CTAs take different times.
// CTAs begin evenly over the run. The time of one beyond the mean is taken to be exponential, with the mean
// mu for which the longest of `count` CTAs is as long as the description says: beyond = mu (ln count +
// gamma). The CTA that ends last has begun x before the end and runs beyond it by its own time less x, so
// that
//   behind = beyond - mu ln((run / mu) / (1 - exp(-run / mu))).
// Ignores: work that is sorted by its length, and the faster pace of CTAs that have an SM to themselves.
// Source: largest of independent exponential variables (Gumbel, Statistics of Extremes, 1958, section 4.1).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warptime::model::machine {

/// Any unit of time. `beyond`: what the longest of `count` CTAs takes more than the mean one; `run`: time in
/// which all CTAs of mean length are done. 0 where no CTA is longer.
[[nodiscard]] inline double behind_the_last(double beyond, double count, double run) {
    if (!(beyond > 0.0) || !(run > 0.0) || count < 2.0) return 0.0;
    const double mu = beyond / (std::log(count) + std::numbers::egamma);
    const double turns = run / mu;
    return std::max(0.0, beyond - mu * std::log(turns / -std::expm1(-turns)));
}

}  // namespace warptime::model::machine
