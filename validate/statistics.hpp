// The figures of the scoreboard: errors, quantiles, rank correlation, coverage of bands.
// Ignores: weights; every row counts once.
// Sources: quantiles by Hyndman & Fan 1996, definition 7 (doi.org/10.2307/2684934).
// Spearman's rank correlation with mid-ranks for ties.
// Interval of a share by Wilson 1927 (doi.org/10.1080/01621459.1927.10502953).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace warptime::validate {

/// The mean. NaN for an empty sample, also in the functions below.
[[nodiscard]] double mean(std::span<const double> values);

/// Quantile of definition 7 (linear between order statistics); probability in [0, 1].
[[nodiscard]] double quantile(std::span<const double> values, double probability);
[[nodiscard]] double median(std::span<const double> values);

/// |predicted - measured| / measured; measured must be positive.
[[nodiscard]] double relative_error(double predicted, double measured);

/// Ranks from 1; equal values share the mean of their ranks.
[[nodiscard]] std::vector<double> ranks(std::span<const double> values);

/// Spearman's rank correlation: Pearson's correlation of the mid-ranks. NaN for fewer than two pairs, or when
/// one side is constant. The spans have the same length.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

struct Interval {
    double low = 0.0;
    double high = 0.0;
};

/// Wilson's interval for the probability behind `successes` of `trials`, at `z` standard deviations of a
/// normal (1.96: 95 %). [0, 1] for no trials.
[[nodiscard]] Interval wilson_interval(int successes, int trials, double z = 1.959963984540054);

}  // namespace warptime::validate
