// Visits to L2 slices: a sector whose home is another partition is looked up in both partitions.
// Ignores: which SM is near which partition, and copies that are evicted before their line.
// Source: lts__t_sectors_op_read and its misses in recorded streams, repeated reads and GEMMs (counters_*
// suites, fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Slices that a sector visits on average when it is first read. It visits its home and, for SMs of the other
/// partition, the point where it crosses. Every store makes the same visits.
[[nodiscard]] inline double slice_visits(const hw::Gpu& gpu) {
    return 2.0 - 1.0 / gpu.l2.partitions.value();
}

/// Bytes, among `requests` for `fetched` bytes of lines, that visit a second slice as well. A partition asks
/// a line's home once, when its first SM asks, and keeps a copy. Let k = requests / fetched >= 1, from random
/// sides. Then each of P - 1 others asks with probability 1 - (1 - 1/P)^k. With two partitions, lines read
/// once add half a visit, and lines that many SMs read add one. Repeated reads add none.
[[nodiscard]] inline double crossings(double requests, double fetched, const hw::Gpu& gpu) {
    if (!(0.0 < fetched)) return 0.0;
    const double partitions = gpu.l2.partitions.value();
    const double k = std::max(1.0, requests / fetched);
    // Beyond this k no partition is left out to the last bit: (1 - 1/P)^k < exp(-k/P) < 2^-54.
    const bool all_ask = k > 38.0 * partitions;
    const double left_out = all_ask ? 0.0 : std::pow(1.0 - 1.0 / partitions, k);
    return fetched * ((partitions - 1.0) * (1.0 - left_out));
}

}  // namespace warptime::model::machine
