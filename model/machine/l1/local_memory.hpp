// Local memory in the L1: share of loads that hit, where threads keep values that their registers cannot
// hold.
// Ignores: lines of other loads than narrow rows, and sectors that one store leaves unwritten.
// Source: microbench_local_memory. A load that hits takes a pass over the banks. Every store goes on to the
// L2 at 32 bytes a cycle and SM, even when it repeats.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/demand/kept_at_random.hpp"
#include "model/machine/l1/row_lanes.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

[[nodiscard]] inline bool is_local(const kernel::Buffer& buffer) {
    return buffer.space == kernel::Space::local;
}

/// Bytes of the buffer in use while `ctas` CTAs are resident; each CTA has local memory of its own.
[[nodiscard]] inline double bytes_in_use(const kernel::Buffer& buffer, double ctas) {
    const double bytes = static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype);
    return is_local(buffer) ? bytes * ctas : bytes;
}

/// Bytes of lines that a CTA's boxes of narrow rows bring through the L1 in one trip of its loop.
[[nodiscard]] inline double bytes_passing(const kernel::Kernel& kernel, double line) {
    double lines = 0.0;
    for (const kernel::Access& access : kernel.accesses) {
        if (!in_narrow_rows(access) || access.direction != kernel::Direction::read) continue;
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        const auto row = static_cast<double>(access.box[0] * hw::bytes_of(buffer.dtype));
        // Rows begin anywhere in a line.
        lines += static_cast<double>(access.box[1]) * (1.0 + row / line);
    }
    return lines * line;
}

/// Ratio of a CTA's local memory to its `room` of the L1; `room` is above 0.
[[nodiscard]] inline double local_fill(const kernel::Buffer& buffer, double room) {
    return bytes_in_use(buffer, 1.0) / room;
}

/// True while the greater part of the set has room. Warps that hit then run ahead of the others, and leave
/// them the room when they end.
[[nodiscard]] inline bool some_run_ahead(double fill) {
    return fill < 2.0;
}

/// Share of a CTA's local loads that hit in its `room` of the L1; `passing`: bytes of other lines in between.
/// Where some warps run ahead, lines stay as if nothing replaced them; otherwise all warps miss alike.
[[nodiscard]] inline double local_hits(const kernel::Buffer& buffer, double passing, double room) {
    if (!(room > 0.0)) return 0.0;
    const double fill = local_fill(buffer, room);
    if (!some_run_ahead(fill)) return kept_at_random(fill);
    return std::min(1.0, room / (bytes_in_use(buffer, 1.0) + passing));
}

/// Time of warps that hit in turn, where the set exceeds the L1 by less than its size. Warps with room take
/// `hit` each. The others first advance at the pace of `missed`, and then hit as well.
template <class T>
[[nodiscard]] T in_two_turns(const T& hit, const T& missed) {
    return hit + hit * ((missed - hit) / missed);
}

}  // namespace warptime::model::machine
