// How times that overlap combine: the largest dominates, and those close to it still cost a little.
// Ignores: why they collide (the queues of the servers between them).
// Source: the p-norm that bandwidth-latency curves follow; exponent fitted (key overlap.exponent).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"

#include <cstddef>
#include <span>

namespace warptime::model::analytical {

/// (sum x_i^p)^(1/p) of non-negative values; 0 when all are 0. Values below a quarter of the largest add less
/// than (1/4)^p of it and are left out, as is the power when a single one remains.
template <class S>
[[nodiscard]] S overlapped(std::span<const S> values, const S& exponent) {
    S largest(0.0);
    for (const S& value : values) {
        if (largest < value) {
            largest = value;
        }
    }
    if (!(S(0.0) < largest)) {
        return largest;
    }
    S sum(0.0);
    std::size_t counted = 0;
    for (const S& value : values) {
        const S ratio = value / largest;
        if (S(0.25) < ratio) {
            sum = sum + (S(1.0) > ratio ? hw::pow(ratio, exponent) : S(1.0));
            ++counted;
        }
    }
    return counted < 2 ? largest : largest * hw::pow(sum, S(1.0) / exponent);
}

}  // namespace warptime::model::analytical
