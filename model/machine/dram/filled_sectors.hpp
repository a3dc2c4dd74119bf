// Sectors that stores cover in part, and that the L2 fills from DRAM before a later store completes them.
// The L2 keeps a number of lines with such sectors; the oldest of more lines is filled and written.
// Ignores: which sectors a second store completes in time, and sectors that are filled twice.
// Source: dram__bytes_read of stores at distances of 8 to 64 words and at random places (strides,
// scattered_stores). Of 131, 262 and 524 thousand lines all but 38 to 46 thousand were filled. A piece for
// each sector: validate/recorded/h100-sxm/ladders/scattered_memory.csv.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Stores of a whole kernel to one buffer by which sectors are covered in part.
struct PartStores {
    double parted = 0.0;   ///< bytes of the sectors that single stores cover in part, each time that one does
    double written = 0.0;  ///< bytes that all stores to the buffer write
    double whole = 0.0;    ///< bytes of the buffer that are reached
    double apart = 0.0;    ///< bytes among which one warp's scattered stores fall; 0: they go in order
    double read = 0.0;     ///< bytes of the buffer that loads bring: stores find these sectors whole
    double visits = 0.0;   ///< of scattered stores to lines, each for sectors of its own
};

struct FilledSectors {
    double touched = 0.0;  ///< bytes of the sectors that are covered in part at first
    double filled = 0.0;   ///< part that is read from DRAM, and written there
    double lines = 0.0;    ///< lines that hold the touched sectors
    /// Bytes for which the fills take DRAM's bus in each direction: at least its smallest piece for each
    /// line.
    double on_bus = 0.0;
};

/// Lines whose sectors may stay covered in part.
[[nodiscard]] inline double lines_kept_in_part(const hw::Gpu& gpu) {
    return gpu.l2.capacity.value() * gpu.l2.kept_in_part.value() / gpu.l1.line.value();
}

/// Whether stores of a whole kernel cover all of the `touched` bytes of sectors that single ones cover in
/// part.
[[nodiscard]] inline bool are_completed(double written, double touched) {
    // Means over executions are no whole numbers.
    constexpr double all = 0.95;
    return written >= all * touched;
}

[[nodiscard]] inline FilledSectors filled_sectors(const PartStores& stores, const hw::Gpu& gpu) {
    FilledSectors result;
    const double line = gpu.l1.line.value();
    result.touched = std::min(stores.parted, stores.whole);
    if (!(result.touched > 0.0)) return result;
    result.lines = std::min(result.touched / gpu.l1.sector.value(), std::max(stores.whole, line) / line);
    const bool completed = are_completed(stores.written, result.touched);
    // Stores in order complete a sector at once, scattered ones after the places among which they fall.
    const double until = completed ? std::min(result.lines, stores.apart / line) : result.lines;
    const double kept = lines_kept_in_part(gpu);
    if (until <= kept) return result;
    const double unread = 1.0 - std::min(1.0, stores.read / result.touched);
    const double share = (1.0 - kept / until) * unread;
    result.filled = result.touched * share;
    // Stores in order fill a line at once, scattered ones each sector in its own time.
    const double apart = std::min(stores.visits, result.touched / gpu.l1.sector.value());
    const double fills = stores.apart > 0.0 ? std::max(result.lines, apart) : result.lines;
    result.on_bus = std::max(result.filled, fills * share * gpu.dram.access_bytes.value());
    return result;
}

}  // namespace warptime::model::machine
