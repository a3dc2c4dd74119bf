// What atomics on global memory ask of the units in the slices of the L2 that carry them out: passes over
// sectors, and how many slices a set of addresses keeps busy.
// Ignores: requests for other sectors that overtake a queue on one of them, and where a set begins.
// Source: recorded rows of microbench_atomics atomic_global. Lanes that add to one word take turns, lanes of
// one sector on different words do not: 32 lanes on 1, 4 and 16 words of four bytes take 46, 12 and 5 cycles
// of one slice. Sets of 2, 4, 8, ... 1024 lines are 1, 2, 2, 4, 8, 12, 24, 25, 53 and 51 times as fast as one
// line: some bits of a line's number choose its slice and others do not. Of longer sets, and of windows that
// move on, the fullest slice serves n / slices + l2.uneven_lines of n lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/lane_touch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warptime::model::memory {

/// Of one warp-instruction. A pass is one word of a sector for each of the lanes that differ in it.
struct AtomicTouch {
    double whole = 0.0;    ///< passes over sectors whose every byte some lane changes
    double part = 0.0;     ///< passes over other sectors
    double lines = 0.0;    ///< requests that it becomes
    double sectors = 0.0;  ///< that differ
    [[nodiscard]] double passes() const { return whole + part; }
    /// Requests of which each waits for its own passes and for others on the same sectors: how many different
    /// ones `window` sectors have room for; 0 where each is one pass.
    [[nodiscard]] double waiting(double window) const {
        return passes() > sectors ? window * lines / sectors : 0.0;
    }
};

/// Of an access of a lane pattern by `active` of the lanes, or of one 32-lane piece of a box. Addresses go
/// round the buffer where the access wraps.
[[nodiscard]] AtomicTouch atomic_touch(const kernel::Kernel& kernel, const kernel::Access& access,
                                       double active, const MemoryPieces& pieces);

/// Passes over the banks of one instruction on shared memory. Lanes of one word take turns where the old
/// value returns; additions of one without it are counted by the bank and take one pass a word.
[[nodiscard]] double bank_passes(const kernel::Kernel& kernel, const kernel::Op& op,
                                 const kernel::Access& access, const MemoryPieces& pieces);

/// Part of a buffer, in bytes.
struct Window {
    double first = 0.0, last = 0.0;
    bool still = false;  ///< it does not move on: the whole buffer
    [[nodiscard]] double bytes() const { return last - first; }
    [[nodiscard]] Window with(const Window& other) const {
        return {std::min(first, other.first), std::max(last, other.last), still && other.still};
    }
};

/// Where the atomics of an access lie that are under way at a time, with `concurrent` items: what one turn of
/// every loop and the next one touch.
[[nodiscard]] Window atomic_window(const kernel::Kernel& kernel, const kernel::Role& role,
                                   const kernel::Op& op, const kernel::Access& access, double concurrent);

/// Distinct sectors in such a window.
[[nodiscard]] double atomic_sectors(const kernel::Kernel& kernel, const kernel::Access& access,
                                    double window_bytes, const MemoryPieces& pieces);

/// Whether the additions of a type wait for one another in a sector.
[[nodiscard]] constexpr bool adds_in_float(hw::Dtype dtype) {
    return dtype != hw::Dtype::int8 && dtype != hw::Dtype::int32 && dtype != hw::Dtype::int64 &&
           dtype != hw::Dtype::b1;
}

template <class S>
[[nodiscard]] S slices_of(const hw::Gpu<S>& gpu) {
    return gpu.l2.slices.value() * gpu.sm.count.value();
}

/// Slices that a set of `lines` lines in a row reaches by the bits of their numbers.
template <class S>
[[nodiscard]] S slices_by_bits(double lines, const hw::Gpu<S>& gpu) {
    const auto bits = static_cast<unsigned>(hw::value_of(gpu.l2.slice_bits));
    const int whole = std::min(30, std::ilogb(lines));
    const double power = std::ldexp(1.0, whole);
    double places = std::ldexp(1.0, std::popcount(bits & ((1U << whole) - 1U)));
    if ((bits >> whole & 1U) != 0U) places *= lines / power;
    return hw::min(S(places), hw::max(gpu.l2.slices_least.value(), gpu.l2.slice_share.value() * S(places)));
}

/// Slices at work when requests go evenly to the lines of a window: at least one. A set that stays where it
/// is lies in the slices that the bits of its lines' numbers choose; one that moves on, or is longer than
/// they tell apart, fills the slices as they come.
template <class S>
[[nodiscard]] S slices_reached(const Window& window, const hw::Gpu<S>& gpu) {
    const double lines = std::max(1.0, window.bytes() / hw::value_of(gpu.l1.line));
    const double told_apart = std::exp2(1.0 + std::floor(std::log2(hw::value_of(gpu.l2.slice_bits)) + 1.0));
    if (window.still && lines <= told_apart) return slices_by_bits(lines, gpu);
    // Of up to eight lines half lie in the fullest slice.
    const S uneven = hw::min(S(std::max(std::min(lines, 2.0), 0.5 * lines)), gpu.l2.uneven_lines.value());
    return hw::max(S(1.0), S(lines) / (uneven + S(lines) / slices_of(gpu)));
}

/// Cycles of one slice for the passes of a request.
template <class S>
[[nodiscard]] hw::Cycles<S> slice_cycles(double whole, double part, const hw::Gpu<S>& gpu) {
    return gpu.l2.atomic_interval * S(whole) + gpu.l2.atomic_part_interval * S(part);
}

}  // namespace warptime::model::memory
