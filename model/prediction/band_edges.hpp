// Edges of the 80 % band around a time, from a half-width: a share of the time, or a fixed time for short
// kernels.
// Source: fitted keys band.*; the widening by coverage is a rule of thumb.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::prediction {

/// Below this time, launch effects of fixed size dominate the residual. Above it, residuals are relative. The
/// scoreboard draws the same line.
inline constexpr double short_kernel_seconds = 10e-6;

struct BandEdges {
    double low = 0.0, high = 0.0;  ///< seconds
};

/// `half` is the half-width of the logarithm.
[[nodiscard]] inline BandEdges relative_edges(double time, double half) {
    const double factor = std::exp(half);
    return {time / factor, time * factor};
}

/// `half` is in seconds. The lower edge stays positive.
[[nodiscard]] inline BandEdges fixed_edges(double time, double half) {
    return {std::max(time * 0.5, time - half), time + half};
}

/// Factor on a half-width where a part of the instructions is not known exactly. It is a prior: no rows stand
/// behind it. A kernel of which nothing is exact has twice the half-width.
[[nodiscard]] inline double widening(const kernel::Coverage& coverage) {
    return 1.0 + coverage.extrapolated + coverage.unknown;
}

/// Edges for kernels whose own kind is not recorded by itself: `evidence` is any or pooled.
[[nodiscard]] inline BandEdges shared_edges(double time, kernel::Evidence evidence, double wider,
                                            const hw::Gpu& gpu) {
    const bool pooled = evidence == kernel::Evidence::pooled;
    if (time < short_kernel_seconds) {
        const hw::Seconds& half = pooled ? gpu.band.pooled_small : gpu.band.described_small;
        return fixed_edges(time, half.value() * wider);
    }
    const hw::Number& half = pooled ? gpu.band.pooled : gpu.band.described;
    return relative_edges(time, half.value() * wider);
}

}  // namespace warptime::model::prediction
