// DRAM writes during a kernel: its own, and the older dirty lines that its traffic pushes out of L2.
// Ignores: which lines are dirty where, and partial sectors. Lines written back after the kernel's end are
// the next step's traffic, not this kernel's. Source: reading and writing kernels over a clean and a dirty L2
// of an H200: the extra time of a reading kernel grows with what it reads and saturates at about 33 MB; 15 to
// 25 MB of a kernel's own writes are still in L2 when it ends. phi and Dm are fitted constants of the GPU
// (l2.dirty_fraction, l2.dirty_capacity). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "hw/quantity.hpp"

namespace warptime::model::memory {

/// DRAM writes over an L2 full of another buffer's dirty lines (condition `flushed`):
/// W + min(phi (R + W), Dm) - min(W, Dm). Each line allocated displaces a dirty one with probability phi
/// until none is left; up to Dm of the kernel's own writes stay behind. read = DRAM reads, written = bytes
/// that the kernel writes, dirty_capacity = bytes of L2 that can be dirty.
template <class S>
[[nodiscard]] hw::Bytes<S> writes_over_dirty(hw::Bytes<S> read, hw::Bytes<S> written,
                                             hw::Number<S> dirty_fraction, hw::Bytes<S> dirty_capacity) {
    const hw::Bytes<S> displaced =
        hw::min(hw::Bytes<S>((read + written).value() * dirty_fraction.value()), dirty_capacity);
    return written + displaced - hw::min(written, dirty_capacity);
}

/// DRAM writes over a clean L2 (conditions `cold` and `warm`): the last Dm of what came in are still there at
/// the end, reads and writes mixed as they came, so W (1 - min(1, Dm / (R + W))). Nsight Compute's
/// dram__bytes_write of 40 adds, GEMMs and Triton kernels with caches invalidated follow it within 15 % from
/// 8 MB of writes on (counters_copy_add, counters_gemm_bf16, counters_triton_bf16, fit and development rows);
/// kernels that write next to nothing show 2.3 to 3.0 MB all the same.
template <class S>
[[nodiscard]] hw::Bytes<S> writes_over_clean(hw::Bytes<S> read, hw::Bytes<S> written,
                                             hw::Bytes<S> dirty_capacity) {
    const hw::Bytes<S> moved = read + written;
    if (!(dirty_capacity < moved)) {
        return hw::Bytes<S>{};
    }
    return hw::Bytes<S>(written.value() * (S(1.0) - dirty_capacity.value() / moved.value()));
}

/// Extra time of each byte written while reads wait for the bus, as a share of its time at dram.bandwidth.
inline constexpr double dram_turnaround = 0.22;

/// Bytes of L2 that can be dirty: share l2.dirty_capacity of l2.capacity.
template <class Gpu>
[[nodiscard]] auto dirty_capacity_of(const Gpu& gpu) {
    return gpu.l2.capacity * gpu.l2.dirty_capacity;
}

}  // namespace warptime::model::memory
