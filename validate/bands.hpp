// The half-widths of the 80 % bands, from residuals of fit and development rows, never of held-out ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/engine_fit_model.hpp"

#include <span>
#include <string>
#include <vector>

namespace warptime::validate {

/// A band key and its basis. From 10 us on: the 80 % quantile of |ln(p / t)| of a class. The limiter gives
/// the class: compute, memory, or latency for all other limiters. band.small and band.small_loop are the
/// quantile of |p - t| in s, of shorter rows. band.small covers rows that launch or DRAM holds;
/// band.small_loop covers all others. Kernels without recorded rows of their own kind are apart, in
/// band.described and band.described_small. So are workloads with few rows each, in band.pooled and
/// band.pooled_small.
struct BandWidth {
    std::string key;
    double value = 0.0;
    std::size_t rows = 0;
    double residual = 0.0;            ///< mean of the values behind the quantile
    std::vector<std::string> suites;  ///< of these rows, by name
};

/// Classes with fewer rows than `least_rows` are left out.
[[nodiscard]] std::vector<BandWidth> band_widths(std::span<const FitRowEstimate> estimates,
                                                 std::size_t least_rows = 10);

}  // namespace warptime::validate
