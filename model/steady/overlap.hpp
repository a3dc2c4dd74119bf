// Combination of times that overlap: the largest dominates, and times close to it still cost a little.
// Ignores: the cause of collisions (the queues of the servers between them).
// Source: the p-norm that bandwidth-latency curves follow; fitted key overlap.exponent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace warptime::model::steady {

/// (sum x_i^p)^(1/p) of non-negative values; 0 when all are 0. Values below a quarter of the largest are left
/// out: each would add less than (1/4)^p. A single remaining value needs no power.
[[nodiscard]] inline double overlapped(std::span<const double> values, double exponent) {
    double largest = 0.0;
    for (const double value : values) {
        if (largest < value) {
            largest = value;
        }
    }
    if (!(0.0 < largest)) {
        return largest;
    }
    double sum = 0.0;
    std::size_t counted = 0;
    for (const double value : values) {
        const double ratio = value / largest;
        if (0.25 < ratio) {
            sum = sum + (1.0 > ratio ? std::pow(ratio, exponent) : 1.0);
            ++counted;
        }
    }
    return counted < 2 ? largest : largest * std::pow(sum, 1.0 / exponent);
}

/// The time that overlaps with `part` to `whole`; 0 where they are the same.
[[nodiscard]] inline double beyond_overlapped(double whole, double part, double exponent) {
    if (!(part < whole)) return 0.0;
    return whole * std::pow(1.0 - std::pow(part / whole, exponent), 1.0 / exponent);
}

/// Share of `value` in `whole`, the overlapped time: by how many per cent `whole` falls if the value falls by
/// one. 0 for values below a quarter, as above.
[[nodiscard]] inline double share_of_overlapped(double value, double whole, double exponent) {
    if (!(0.25 * whole < value)) return 0.0;
    return value < whole ? std::pow(value / whole, exponent) : 1.0;
}

}  // namespace warptime::model::steady
