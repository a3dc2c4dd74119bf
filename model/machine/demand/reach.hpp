// Bytes of a buffer that a kernel's accesses reach, over all of its items.
// Ignores: gaps between the first and the last byte, and bytes that scattered accesses share with those in
// order.
// Source: interval arithmetic over origins (model/kernel/index_span.hpp); meaning of patterns in
// model/kernel/README.md, Access.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/kernel/index_span.hpp"

#include <algorithm>
#include <limits>

namespace warptime::model::machine {

/// Bytes between the first and the last that are reached in order, and bytes among which scattered addresses
/// fall.
struct Reach {
    double first = std::numeric_limits<double>::infinity();
    double last = 0.0;
    double scattered = 0.0;  ///< of all scattered accesses, as if they shared nothing
    double widest = 0.0;     ///< of one of them
    double low = std::numeric_limits<double>::infinity(), high = 0.0;  ///< between which all of them fall
    bool known = true;  ///< false where an access may reach any part
    void add(double from, double to) {
        first = std::min(first, from);
        last = std::max(last, to);
    }
    /// Bytes among which scattered addresses fall: accesses to the same part of a buffer share them.
    [[nodiscard]] double among() const {
        return std::min(scattered, std::max(widest, high - std::min(low, high)));
    }
    void scatter(double bytes, double from, double to) {
        scattered += bytes;
        widest = std::max(widest, bytes);
        low = std::min(low, from);
        high = std::max(high, to);
    }
    /// Of a buffer of `whole` bytes; all of it where the reach is not known.
    [[nodiscard]] double bytes(double whole) const {
        return known ? std::min(whole, std::max(0.0, last - first) + among()) : whole;
    }
};

/// Adds what all executions of a lane access reach. `free`: freedom of the loops and warps around the op.
/// Boxes, random addresses, local memory, and items that no CTA has to itself may reach any part.
inline void note_reach(const kernel::Kernel& kernel, const kernel::Op& op, const kernel::Access& access,
                       const kernel::Freedom& free, Reach& reach) {
    using kernel::PatternKind;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double size = hw::bytes_of(buffer.dtype);
    if (access.pattern == PatternKind::listed) {
        double low = std::numeric_limits<double>::infinity();
        double high = 0.0;
        for (std::uint32_t i = 0; i < access.pool_length; ++i) {
            const std::int64_t at = kernel.address_list[access.pool_first + i];
            if (at < 0) continue;
            low = std::min(low, static_cast<double>(at) * size);
            high = std::max(high, static_cast<double>(at) * size + access.bytes);
        }
        reach.scatter(static_cast<double>(access.distinct) * size, low, high);
        reach.known = reach.known && access.distinct > 0;
        return;
    }
    const bool in_order = access.pattern == PatternKind::contiguous ||
                          access.pattern == PatternKind::broadcast || access.pattern == PatternKind::stride;
    if (!in_order || kernel.schedule.kind != kernel::ScheduleKind::one_per_cta ||
        kernel.cluster.volume() != 1 || buffer.rank != 1 || buffer.space == kernel::Space::local) {
        reach.known = false;
        return;
    }
    kernel::Freedom everywhere = free;
    for (std::size_t d = 0; d < kernel.schedule.tiles.size(); ++d) {
        everywhere.tiles[d] = static_cast<double>(kernel.schedule.tiles[d]) - 1.0;
    }
    const kernel::ValueRange origin = kernel::range_of(kernel, access.origin[0], everywhere);
    double below = 0.0;  // elements of the lanes against the first lane
    double above = 0.0;
    if (access.pattern == PatternKind::stride) {
        constexpr std::int64_t lanes = 32;
        const std::int64_t side_by_side = std::max<std::int64_t>(1, access.inner_extent);
        const auto inner = static_cast<double>((std::min(side_by_side, lanes) - 1) * access.inner);
        const auto outer =
            static_cast<double>((std::max<std::int64_t>(1, lanes / side_by_side) - 1) * access.outer);
        below = std::min(0.0, inner) + std::min(0.0, outer);
        above = std::max(0.0, inner) + std::max(0.0, outer);
    }
    // Each of the instructions of one op stands `step` elements beyond the one before.
    const double steps = static_cast<double>((op.count - 1) * access.step);
    below += std::min(0.0, steps);
    above += std::max(0.0, steps);
    const double wide = access.pattern == PatternKind::contiguous ? 32.0 : 1.0;
    reach.add((origin.low + below) * size, (origin.high + above) * size + wide * access.bytes);
}

}  // namespace warptime::model::machine
