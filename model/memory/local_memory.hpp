// What the L1 does for local memory, in which threads keep what their registers cannot hold.
// Ignores: lines of other loads than narrow rows, and sectors that one store leaves unwritten. Source:
// recorded accesses (microbench_local_memory): a load that hits takes a pass over the banks; every store goes
// on to the L2, 32 bytes a cycle and SM, however little is stored again and again. Counted in the same
// kernels: of 262 kB in turn 0.94 are found where loads and stores alternate, 0.82 where all loads of a block
// come first, of 393 kB 0.5 to 0.9, of 524 kB 0.2 and of 1 MB 0.02 (random victims leave 0.16 and 0.015).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/memory/row_lanes.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::memory {

[[nodiscard]] inline bool is_local(const kernel::Buffer& buffer) {
    return buffer.space == kernel::Space::local;
}

/// Bytes that the buffer takes while `ctas` of the kernel are resident: of local memory each has its own.
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

/// Share of visits that find their line in a cache of which each miss pushes out any line alike, where a set
/// `fill` times its size is gone through again and again: a line stays through all misses of a round with the
/// chance h = exp(-fill (1 - h)).
[[nodiscard]] inline double kept_at_random(double fill) {
    if (fill <= 1.0) return 1.0;
    double kept = 0.0;
    constexpr int rounds = 12;
    for (int i = 0; i < rounds; ++i) {
        const double stays = std::exp(-fill * (1.0 - kept));
        kept += (stays - kept) / (1.0 - fill * stays);
    }
    return kept;
}

/// How often what a CTA has of its own fills its `room` of the L1, which is not 0.
[[nodiscard]] inline double local_fill(const kernel::Buffer& buffer, double room) {
    return bytes_in_use(buffer, 1.0) / room;
}

/// As long as the greater part of a set has room, warps that find their lines run ahead of those that do not,
/// and leave them the room when they are done.
[[nodiscard]] inline bool some_run_ahead(double fill) {
    return fill < 2.0;
}

/// Share of a CTA's loads from its local memory that the L1 serves from its `room`; `passing`: bytes that go
/// through it in between. Where some warps run ahead, lines are found in the end as if they stayed; else all
/// miss alike.
[[nodiscard]] inline double local_hits(const kernel::Buffer& buffer, double passing, double room) {
    if (!(room > 0.0)) return 0.0;
    const double fill = local_fill(buffer, room);
    if (!some_run_ahead(fill)) return kept_at_random(fill);
    return std::min(1.0, room / (bytes_in_use(buffer, 1.0) + passing));
}

/// What warps take that find their lines in turn, where a set is larger than the L1 by less than the double
/// of it: those that fit take `hit` each, and the others, which meanwhile have got on at the pace of
/// `missed`, then find theirs, too.
template <class T>
[[nodiscard]] T in_two_turns(const T& hit, const T& missed) {
    return hit + hit * ((missed - hit) / missed);
}

}  // namespace warptime::model::memory
