// Work of atomics on global memory in the L2 slices: passes over sectors, and the slices that a set of
// addresses uses. Lanes that add to one word take turns; lanes on different words of a sector do not. Some
// bits of a line's number choose its slice. In longer sets and moving windows, the fullest slice serves n /
// slices + l2.uneven_lines of n lines.
// Ignores: requests for other sectors that overtake a queue, and where a set begins.
// Source: microbench_atomics atomic_global.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/l1/lane_touch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warptime::model::machine {

/// Work of one warp-instruction. One pass handles one word for each distinct lane of a sector.
struct AtomicTouch {
    double whole = 0.0;    ///< passes over sectors whose every byte some lane changes
    double part = 0.0;     ///< passes over other sectors
    double lines = 0.0;    ///< requests that the instruction becomes
    double sectors = 0.0;  ///< distinct sectors
    [[nodiscard]] double passes() const { return whole + part; }
    /// Different requests under way in `window` sectors, where each waits for other passes on its sectors. 0
    /// where each request is one pass.
    [[nodiscard]] double waiting(double window) const {
        return passes() > sectors ? window * lines / sectors : 0.0;
    }
};

/// Touch of a lane pattern by `active` of the lanes, or of one 32-lane piece of a box. Addresses go round the
/// buffer where the access wraps.
[[nodiscard]] AtomicTouch atomic_touch(const kernel::Kernel& kernel, const kernel::Access& access,
                                       double active, const MemoryPieces& pieces);

/// Passes over the banks of one instruction on shared memory. Lanes on one word take turns where the old
/// value returns. The bank counts additions without a returned value itself, one pass a word.
[[nodiscard]] double bank_passes(const kernel::Kernel& kernel, const kernel::Op& op,
                                 const kernel::Access& access, const MemoryPieces& pieces);

/// Window of what is under way of an access at a time, with `concurrent` items. It covers one turn of every
/// loop and the next turn.
[[nodiscard]] Window window_in_step(const kernel::Kernel& kernel, const kernel::Role& role,
                                    const kernel::Op& op, const kernel::Access& access, double concurrent);

/// The same for atomics. CTAs that all walk the same way are at any place of it: nothing keeps them in step.
[[nodiscard]] Window atomic_window(const kernel::Kernel& kernel, const kernel::Role& role,
                                   const kernel::Op& op, const kernel::Access& access, double concurrent);

/// Such a window of all atomics on one buffer.
[[nodiscard]] Window atomic_window_of(const kernel::Kernel& kernel, kernel::Id buffer, double concurrent);

/// Distinct sectors of an access in such a window.
[[nodiscard]] double atomic_sectors(const kernel::Kernel& kernel, const kernel::Access& access,
                                    double window_bytes, const MemoryPieces& pieces);

/// True if additions of a type wait for one another in a sector.
[[nodiscard]] constexpr bool adds_in_float(hw::Dtype dtype) {
    return dtype != hw::Dtype::int8 && dtype != hw::Dtype::int32 && dtype != hw::Dtype::int64 &&
           dtype != hw::Dtype::b1;
}

[[nodiscard]] inline double slices_of(const hw::Gpu& gpu) {
    return gpu.l2.slices.value() * gpu.sm.count.value();
}

/// Bits of a line's number that choose its place in a small set.
[[nodiscard]] inline unsigned place_bits_of(const hw::Gpu& gpu) {
    return static_cast<unsigned>(gpu.l2.slice_bits.value());
}

/// Places that the bits of their numbers give `lines` consecutive lines. A set that is no power of two long
/// fills the last bit's places in part.
[[nodiscard]] inline double places_by_bits(double lines, unsigned bits) {
    const int whole = std::min(30, std::ilogb(lines));
    const double power = std::ldexp(1.0, whole);
    const double places = std::ldexp(1.0, std::popcount(bits & ((1U << whole) - 1U)));
    return (bits >> whole & 1U) != 0U ? places * lines / power : places;
}

/// Slices that a set of `lines` consecutive lines reaches by the bits of their numbers.
[[nodiscard]] inline double slices_by_bits(double lines, const hw::Gpu& gpu) {
    const double places = places_by_bits(lines, place_bits_of(gpu));
    return std::min(places, std::max(gpu.l2.slices_least.value(), gpu.l2.slice_share.value() * places));
}

/// Number of the place of a line, by the bits that choose it.
[[nodiscard]] inline std::size_t place_of_line(std::int64_t line, unsigned bits) {
    std::size_t place = 0;
    for (unsigned bit = 0, to = 0; bits >> bit != 0; ++bit) {
        if ((bits >> bit & 1U) != 0) place |= (static_cast<std::size_t>(line >> bit) & 1U) << to++;
    }
    return place;
}

/// Lines whose places are told apart by the bits of their numbers.
[[nodiscard]] inline double lines_told_apart(const hw::Gpu& gpu) {
    return std::exp2(1.0 + std::floor(std::log2(gpu.l2.slice_bits.value()) + 1.0));
}

/// Slices at work when requests go evenly to the lines of a window; at least one. The bits of the lines'
/// numbers choose the slices of a fixed set. A window that moves, or exceeds those bits, fills the slices at
/// random.
[[nodiscard]] inline double slices_reached(const Window& window, const hw::Gpu& gpu) {
    const double lines = std::max(1.0, window.bytes() / gpu.l1.line.value());
    if (window.still && lines <= lines_told_apart(gpu)) return slices_by_bits(lines, gpu);
    // Up to eight lines put half their number into the fullest slice.
    const double uneven = std::min(std::max(std::min(lines, 2.0), 0.5 * lines), gpu.l2.uneven_lines.value());
    return std::max(1.0, lines / (uneven + lines / slices_of(gpu)));
}

/// Slices at work where one gets `skew` times the mean of all slices.
[[nodiscard]] inline double slices_at_work(const Window& window, double skew, const hw::Gpu& gpu) {
    return std::max(1.0, std::min(slices_reached(window, gpu), slices_of(gpu) / skew));
}

/// Cycles of one slice for the passes of a request.
[[nodiscard]] inline hw::Cycles slice_cycles(double whole, double part, const hw::Gpu& gpu) {
    return gpu.l2.atomic_interval * whole + gpu.l2.atomic_part_interval * part;
}

}  // namespace warptime::model::machine
