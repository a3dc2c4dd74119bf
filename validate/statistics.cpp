// Closed forms over copies of the sample. No sample is large enough to need selection algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace warptime::validate {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double mean(std::span<const double> values) {
    if (values.empty()) return not_a_number;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::span<const double> values, double probability) {
    if (values.empty()) return not_a_number;
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double position = probability * static_cast<double>(sorted.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(position), sorted.size() - 1);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double part = position - static_cast<double>(below);
    return sorted[below] + part * (sorted[above] - sorted[below]);
}

double median(std::span<const double> values) {
    return quantile(values, 0.5);
}

double relative_error(double predicted, double measured) {
    return std::abs(predicted - measured) / measured;
}

std::vector<double> ranks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> result(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first + 1;
        while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
        // Places first + 1 .. last share their mean.
        const double shared = 0.5 * static_cast<double>(first + 1 + last);
        for (std::size_t i = first; i < last; ++i) result[order[i]] = shared;
        first = last;
    }
    return result;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
    if (a.size() < 2 || a.size() != b.size()) return not_a_number;
    const std::vector<double> rank_a = ranks(a);
    const std::vector<double> rank_b = ranks(b);
    const double middle = 0.5 * static_cast<double>(a.size() + 1);
    double ab = 0.0;
    double aa = 0.0;
    double bb = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (rank_a[i] - middle) * (rank_b[i] - middle);
        aa += (rank_a[i] - middle) * (rank_a[i] - middle);
        bb += (rank_b[i] - middle) * (rank_b[i] - middle);
    }
    return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : not_a_number;
}

Interval wilson_interval(int successes, int trials, double z) {
    if (trials <= 0) return {0.0, 1.0};
    const double n = trials;
    const double share = successes / n;
    const double centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    const double half = z / (1.0 + z * z / n) * std::sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n));
    return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace warptime::validate
