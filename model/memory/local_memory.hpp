// What the L1 does for local memory, in which threads keep what their registers cannot hold.
// Ignores: lines of other buffers in the L1, and sectors that one store leaves unwritten. Source: recorded
// accesses (microbench_local_memory): a load that hits takes a pass over the banks; every store goes on to
// the L2, 32 bytes a cycle and SM, however little is stored again and again; and only what a CTA holds
// beyond its room in the L1 is missed. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/memory/l1_residence.hpp"

namespace warptime::model::memory {

[[nodiscard]] inline bool is_local(const kernel::Buffer& buffer) {
    return buffer.space == kernel::Space::local;
}

/// Bytes that the buffer takes while `ctas` of the kernel are resident: of local memory each has its own.
[[nodiscard]] inline double bytes_in_use(const kernel::Buffer& buffer, double ctas) {
    const double bytes = static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype);
    return is_local(buffer) ? bytes * ctas : bytes;
}

/// Share of a CTA's loads from its local memory that the L1 serves. `room`: bytes of it that are the CTA's;
/// `ways`: key l1.ways.
[[nodiscard]] inline double local_hits(const kernel::Buffer& buffer, double room, double ways) {
    return 1.0 - missed_in_turn(bytes_in_use(buffer, 1.0), room, ways);
}

}  // namespace warptime::model::memory
