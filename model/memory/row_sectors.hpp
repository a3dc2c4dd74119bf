// Whole sectors that the rows of a box touch.
// Ignores: which rows share a sector. Source: CUDA Programming Guide 13, 32-byte sectors; a row that does not
// start on a sector boundary touches one sector more.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace warptime::model::memory {

/// Bytes that arrive for rows of `row_bytes` whose starts lie `pitch_bytes` apart: whole sectors, averaged
/// over the alignments that the pitch produces.
[[nodiscard]] inline double sector_bytes_per_row(double row_bytes, std::int64_t pitch_bytes, double sector) {
    const auto unit = static_cast<std::int64_t>(sector);
    const std::int64_t pitch = std::max<std::int64_t>(pitch_bytes, 1);
    // The greatest common divisor with a power of two, as sectors are, is the lowest bit that is set.
    const bool power_of_two = (unit & (unit - 1)) == 0;
    const auto grain =
        static_cast<double>(power_of_two ? std::min(unit, pitch & -pitch) : std::gcd(pitch, unit));
    return row_bytes + (sector - grain);
}

/// Lines that a row touches, at least one: averaged likewise.
[[nodiscard]] inline double lines_per_row(double row_bytes, std::int64_t pitch_bytes, double line) {
    return std::max(1.0, sector_bytes_per_row(row_bytes, pitch_bytes, line) / line);
}

}  // namespace warptime::model::memory
