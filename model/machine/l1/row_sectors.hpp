// Whole sectors and lines that the rows of a box touch, and requests of lanes that copy half a sector.
// Ignores: which rows share a sector.
// Source: CUDA Programming Guide 13, 32-byte sectors; a row that does not start on a sector boundary touches
// one sector more.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace warptime::model::machine {

/// Mean bytes of whole sectors that arrive for a row of `row_bytes`. Row starts lie `pitch_bytes` apart; the
/// mean is over the alignments that this pitch produces.
[[nodiscard]] inline double sector_bytes_per_row(double row_bytes, std::int64_t pitch_bytes, double sector) {
    const auto unit = static_cast<std::int64_t>(sector);
    const std::int64_t pitch = std::max<std::int64_t>(pitch_bytes, 1);
    // The greatest common divisor with a power of two, as sectors are, is the lowest set bit.
    const bool power_of_two = (unit & (unit - 1)) == 0;
    const auto grain =
        static_cast<double>(power_of_two ? std::min(unit, pitch & -pitch) : std::gcd(pitch, unit));
    return row_bytes + (sector - grain);
}

/// Equivalent aligned rows for one row whose lanes copy half a sector (16 bytes) each; a mean over the pitch.
/// Lanes are served in pairs, one sector a pair. Where a row begins inside a sector, each lane of a pair has
/// a sector of its own. Even and odd lanes are then served one after the other, each as an aligned row.
/// Source: microbench_cp_async_rows with pitches off sectors, and Nsight Compute's sectors.
[[nodiscard]] inline double rows_on_sectors(double row_bytes, std::int64_t pitch_bytes, double sector) {
    const auto unit = static_cast<std::int64_t>(sector);
    return row_bytes < sector || pitch_bytes % unit == 0 ? 1.0 : 1.5;
}

/// Bytes that the L2's slices take in for each byte stored to such rows. Bulk stores leave `span` by span of
/// shared memory (the swizzle's span, 128 bytes). A sector that a span writes in part counts twice, since the
/// L2 keeps its mask and merges it. Span 0: whole rows leave at once.
[[nodiscard]] inline double stored_per_byte(double row_bytes, std::int64_t pitch_bytes, double sector,
                                            double span) {
    const double piece = span > 0.0 ? std::min(row_bytes, span) : row_bytes;
    const double touched = sector_bytes_per_row(piece, pitch_bytes, sector);
    const double in_part = span > 0.0 ? 2.0 * (touched - piece) : 0.0;
    return (touched + in_part) / piece;
}

/// Lines that a row touches, at least one; a mean over the alignments.
[[nodiscard]] inline double lines_per_row(double row_bytes, std::int64_t pitch_bytes, double line) {
    return std::max(1.0, sector_bytes_per_row(row_bytes, pitch_bytes, line) / line);
}

}  // namespace warptime::model::machine
