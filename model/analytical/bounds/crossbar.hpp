// The SM's ports to L2: bytes received and sent over the crossbar.
// Ignores: merging of requests of neighbouring SMs, and hops between the two L2 halves.
// Source: recorded bulk-copy rates (fitted keys l2.port_bandwidth, l2.write_bandwidth); a row that does not
// start on a sector boundary touches one sector more (CUDA Programming Guide 13, 32-byte sectors).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace warptime::model::analytical {

/// Bytes that arrive for rows of `row_bytes` whose starts lie `pitch_bytes` apart: whole sectors, averaged
/// over the alignments that the pitch produces.
[[nodiscard]] inline double sector_bytes_per_row(double row_bytes, std::int64_t pitch_bytes, double sector) {
    const auto unit = static_cast<std::int64_t>(sector);
    const double grain = static_cast<double>(std::gcd(std::max<std::int64_t>(pitch_bytes, 1), unit));
    return row_bytes + (sector - grain);
}

template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_read_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.port_bandwidth;
}

template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_write_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.write_bandwidth;
}

}  // namespace warptime::model::analytical
