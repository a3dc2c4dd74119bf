// Whole sectors that the rows of a box touch, and how often lanes that copy halves of them ask.
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

/// Rows on sector boundaries that stand for one row of which each lane copies half a sector (16 bytes). Lanes
/// are served in pairs, a sector a pair; where a row begins in the middle of a sector, each lane of a pair
/// has a sector of its own, and the even lanes and the odd ones are served one after the other, each as a row
/// on a boundary. Averaged over the rows of a pitch. Source: microbench_cp_async_rows with pitches off
/// sectors; Nsight Compute counts 1.50 times the sectors for rows of 32, 64 and 128 bytes of which every
/// other one is off, and 1.49, 1.87 and 2.60 requests a row (this times lines_per_row: 1.5, 1.88, 2.63).
[[nodiscard]] inline double rows_on_sectors(double row_bytes, std::int64_t pitch_bytes, double sector) {
    const auto unit = static_cast<std::int64_t>(sector);
    return row_bytes < sector || pitch_bytes % unit == 0 ? 1.0 : 1.5;
}

/// What the L2's slices take in for each byte that is stored to such rows. Bulk stores leave `span` by span
/// of shared memory (that of its swizzle, 128 bytes), and a sector that a span writes in part, where it
/// begins or ends, counts twice, since the L2 keeps its mask and merges it; 0: whole rows leave at once.
[[nodiscard]] inline double stored_per_byte(double row_bytes, std::int64_t pitch_bytes, double sector,
                                            double span) {
    const double piece = span > 0.0 ? std::min(row_bytes, span) : row_bytes;
    const double touched = sector_bytes_per_row(piece, pitch_bytes, sector);
    const double in_part = span > 0.0 ? 2.0 * (touched - piece) : 0.0;
    return (touched + in_part) / piece;
}

/// Lines that a row touches, at least one: averaged likewise.
[[nodiscard]] inline double lines_per_row(double row_bytes, std::int64_t pitch_bytes, double line) {
    return std::max(1.0, sector_bytes_per_row(row_bytes, pitch_bytes, line) / line);
}

}  // namespace warptime::model::memory
