// What the L1 does for local memory, in which threads keep what their registers cannot hold.
// Ignores: lines of other loads than narrow rows, and sectors that one store leaves unwritten. Source:
// recorded accesses (microbench_local_memory): a load that hits takes a pass over the banks; every store goes
// on to the L2, 32 bytes a cycle and SM, however little is stored again and again; and of 384 and 512 kB in
// turn the L1 still serves more than half, as if lines left it at random (a chase through global memory finds
// none of so much: l1_residence.hpp). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/memory/row_lanes.hpp"

#include <algorithm>

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

/// Share of a CTA's loads from its local memory that the L1 serves: of what goes through its `room`, what is
/// there stays at random. `passing`: bytes that go through it in between.
[[nodiscard]] inline double local_hits(const kernel::Buffer& buffer, double passing, double room) {
    return std::clamp(room / (bytes_in_use(buffer, 1.0) + passing), 0.0, 1.0);
}

}  // namespace warptime::model::memory
