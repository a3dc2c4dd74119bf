// Visits to L2 slices: a sector whose home is the other partition is looked up in both. Ignores: which SM is
// near which partition, and copies that are evicted before their line. Source: lts__t_sectors_op_read and its
// misses of recorded streams, of footprints read again, and of GEMMs (counters_microbench_*,
// counters_copy_add, counters_gemm_bf16, counters_triton_bf16, fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::memory {

/// Slices that a sector passes on average the first time: its home and, from the other partition, the point
/// where it crosses. Every store does the same.
template <class S>
[[nodiscard]] S slice_visits(const hw::Gpu<S>& gpu) {
    return S(2.0) - S(1.0) / gpu.l2.partitions.value();
}

/// Of `requests` bytes for `fetched` bytes of lines, those that a second slice sees too: a partition that a
/// line is not at home in asks the home once, when the first of its own SMs asks, and keeps a copy. With
/// k = requests / fetched (at least 1) from random sides, each of the P - 1 others asks with probability
/// 1 - (1 - 1 / P)^k: for two partitions half a visit more where every line is read once, one where many SMs
/// read it, and none for reading it again. Derivatives do not go through k.
template <class S>
[[nodiscard]] S crossings(const S& requests, const S& fetched, const hw::Gpu<S>& gpu) {
    if (!(S(0.0) < fetched)) return S(0.0);
    const double partitions = hw::value_of(gpu.l2.partitions);
    const double k = std::max(1.0, hw::value_of(requests) / hw::value_of(fetched));
    // From here on no partition is left out, to the last bit: (1 - 1 / P)^k < exp(-k / P) < 2^-54.
    const bool all_ask = k > 38.0 * partitions;
    const double left_out = all_ask ? 0.0 : std::pow(1.0 - 1.0 / partitions, k);
    return fetched * S((partitions - 1.0) * (1.0 - left_out));
}

}  // namespace warptime::model::memory
