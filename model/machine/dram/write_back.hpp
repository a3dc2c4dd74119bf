// DRAM writes during a kernel: its own lines, and older dirty lines that its traffic pushes out of L2.
// Lines written back after the kernel's end belong to the next step.
// Ignores: which lines are dirty where, and partial sectors.
// Source: reading and writing kernels over a clean and a dirty L2 (H200); microbench_cold_load, flushed
// against cold. F, phi and Dm are the fitted keys l2.dirty_first, l2.dirty_fraction and l2.dirty_capacity.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warptime::model::machine {

/// DRAM writes over an L2 full of another buffer's dirty lines (condition `flushed`): W + min(f + phi (R + W
/// - f), Dm) - min(W, Dm) with f = min(R, F). R = `read`, DRAM reads; W = `written`, the kernel's writes. F =
/// `first`: bytes of the first lines read, which all displace dirty lines. Each later line displaces a dirty
/// line with probability phi until none is left. Dm = `dirty_capacity`: bytes of L2 that can be dirty; up to
/// Dm of the kernel's writes stay behind.
[[nodiscard]] inline hw::Bytes writes_over_dirty(hw::Bytes read, hw::Bytes written, hw::Bytes first,
                                                 hw::Number dirty_fraction, hw::Bytes dirty_capacity) {
    const hw::Bytes at_first = std::min(read, first);
    const hw::Bytes after = (read + written - at_first) * dirty_fraction.value();
    const hw::Bytes displaced = std::min(at_first + after, dirty_capacity);
    return written + displaced - std::min(written, dirty_capacity);
}

/// Share of a kernel's writes that at most a share `room` of its traffic follows. Writes come at the end of
/// each of `waves` waves, after the wave's reads; the last wave may be partly full. Endless waves mix reads
/// and writes evenly and give `room` itself.
[[nodiscard]] inline double written_last(double room, double waves) {
    if (room >= 1.0 || waves <= 1.0) return 1.0;
    if (std::isinf(waves)) return room;
    const double full = std::floor(waves);
    const double first = std::max(1.0, std::ceil(waves * (1.0 - room)));
    return (waves - full + std::max(0.0, full - first + 1.0)) / waves;
}

/// DRAM writes over a clean L2 (conditions `cold` and `warm`): W - min(D, W s). The last bytes to arrive are
/// still there at the end. s = share of the writes that at most the capacity C follows, among all arriving
/// bytes F + W. F = `filled`: bytes of lines that reads bring in, counted in each partition with a copy. D =
/// bytes of the L2 that can be dirty. No constant is fitted. Source: Nsight Compute's dram__bytes_write with
/// caches invalidated (counters_*, fit and development rows).
[[nodiscard]] inline hw::Bytes writes_over_clean(hw::Bytes filled, hw::Bytes written, hw::Bytes capacity,
                                                 hw::Bytes dirty_capacity,
                                                 double waves = std::numeric_limits<double>::infinity()) {
    const hw::Bytes moved = filled + written;
    if (!(capacity < moved)) return written - std::min(written, dirty_capacity);
    const double room = capacity.value() / moved.value();
    const double kept =
        std::isinf(waves) ? written.value() * room : written.value() * written_last(room, waves);
    return written - std::min(hw::Bytes(kept), dirty_capacity);
}

/// Bytes of L2 that can be dirty: share l2.dirty_capacity of l2.capacity.
[[nodiscard]] inline hw::Bytes dirty_capacity_of(const hw::Gpu& gpu) {
    return gpu.l2.capacity * gpu.l2.dirty_capacity;
}

/// Bytes of L2 that are dirty without exception where a kernel's reads begin: share l2.dirty_first.
[[nodiscard]] inline hw::Bytes dirty_first_of(const hw::Gpu& gpu) {
    return gpu.l2.capacity * gpu.l2.dirty_first;
}

}  // namespace warptime::model::machine
