// DRAM writes during a kernel: its own, and the older dirty lines that its traffic pushes out of L2.
// Ignores: which lines are dirty where, and partial sectors. Lines written back after the kernel's end are
// the next step's traffic, not this kernel's. Source: reading and writing kernels over a clean and a dirty L2
// of an H200: the extra time of a reading kernel grows with what it reads and saturates at about 33 MB; 15 to
// 25 MB of a kernel's own writes are still in L2 when it ends. The first reads cost as much as if every line
// that they replace were dirty, later ones 0.4 of that (microbench_cold_load, flushed against cold). F, phi
// and Dm are fitted constants of the GPU (l2.dirty_first, l2.dirty_fraction, l2.dirty_capacity).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "hw/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warptime::model::memory {

/// DRAM writes over an L2 full of another buffer's dirty lines (condition `flushed`):
/// W + min(f + phi (R + W - f), Dm) - min(W, Dm) with f = min(R, F). The first lines that are read displace
/// dirty ones, each line after them one with probability phi until none is left; up to Dm of the kernel's own
/// writes stay behind. read = DRAM reads, written = bytes that the kernel writes, first = bytes F of the
/// lines that are all dirty, dirty_capacity = bytes of L2 that can be dirty.
template <class S>
[[nodiscard]] hw::Bytes<S> writes_over_dirty(hw::Bytes<S> read, hw::Bytes<S> written, hw::Bytes<S> first,
                                             hw::Number<S> dirty_fraction, hw::Bytes<S> dirty_capacity) {
    const hw::Bytes<S> at_first = hw::min(read, first);
    const hw::Bytes<S> after = (read + written - at_first) * dirty_fraction.value();
    const hw::Bytes<S> displaced = hw::min(at_first + after, dirty_capacity);
    return written + displaced - hw::min(written, dirty_capacity);
}

/// Share of a kernel's writes that no more than a share `room` of its traffic follows, when they come at the
/// end of each of `waves` waves (the last of which may be partly full) after its share of the reads. Endless
/// waves mix reads and writes as they come: `room` itself.
[[nodiscard]] inline double written_last(double room, double waves) {
    if (room >= 1.0 || waves <= 1.0) return 1.0;
    if (std::isinf(waves)) return room;
    const double full = std::floor(waves);
    const double first = std::max(1.0, std::ceil(waves * (1.0 - room)));
    return (waves - full + std::max(0.0, full - first + 1.0)) / waves;
}

/// DRAM writes over a clean L2 (conditions `cold` and `warm`): what came in last is still there at the end,
/// so W - min(D, W s), with s the share of the writes that no more than the capacity C follows of all that
/// comes in, F + W. `filled` F = bytes of lines that reads bring in, counted in each partition that keeps a
/// copy (l2_partitions.hpp); D = bytes of the L2 that can be dirty. No constant is fitted to it: Nsight
/// Compute's dram__bytes_write of streams, mixes, adds and GEMMs with caches invalidated, fit and development
/// rows of counters_*.
template <class S>
[[nodiscard]] hw::Bytes<S> writes_over_clean(hw::Bytes<S> filled, hw::Bytes<S> written, hw::Bytes<S> capacity,
                                             hw::Bytes<S> dirty_capacity,
                                             double waves = std::numeric_limits<double>::infinity()) {
    const hw::Bytes<S> moved = filled + written;
    if (!(capacity < moved)) return written - hw::min(written, dirty_capacity);
    const S room = capacity.value() / moved.value();
    const S kept = std::isinf(waves) ? S(written.value() * room)
                                     : S(written.value() * S(written_last(hw::value_of(room), waves)));
    return written - hw::min(hw::Bytes<S>(kept), dirty_capacity);
}

/// Bytes of L2 that can be dirty: share l2.dirty_capacity of l2.capacity.
template <class Gpu>
[[nodiscard]] auto dirty_capacity_of(const Gpu& gpu) {
    return gpu.l2.capacity * gpu.l2.dirty_capacity;
}

/// Bytes of it that are dirty without exception where a kernel's reads begin: share l2.dirty_first.
template <class Gpu>
[[nodiscard]] auto dirty_first_of(const Gpu& gpu) {
    return gpu.l2.capacity * gpu.l2.dirty_first;
}

}  // namespace warptime::model::memory
