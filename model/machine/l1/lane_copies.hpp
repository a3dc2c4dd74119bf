// Demand of lanes' copies of whole rows (cp.async) on the L1 and its array, which is also the shared memory.
// Ignores: lines that two CTAs of an SM ask for.
// Source: l1.hpp for the cost of a line. ldmatrix reads through the unit that writes the copied bytes, so
// both add; wgmma does not (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/part.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/l1/l1.hpp"
#include "model/machine/l1/row_sectors.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// Adds `rows` rows of `row_bytes` to the demand of a part that runs once. `trips`: times that the part runs.
/// `tensor_cores_read`: operands go from shared memory to the tensor cores without the load and store unit.
inline void add_lane_copies(const kernel::Access& access, double rows, double row_bytes,
                            std::int64_t pitch_bytes, double trips, bool tensor_cores_read,
                            const hw::Gpu& gpu, Part& part, BufferTraffic& traffic) {
    const double line = gpu.l1.line.value();
    const double whole_lines = std::max(1.0, row_bytes / line);
    // Eight lanes are served at a time, in two pieces where their line's worth begins inside a line.
    const double split = lines_per_row(std::min(row_bytes, line), pitch_bytes, line);
    traffic.copied_lines += trips * rows * whole_lines;
    traffic.line_bytes = std::min(line, row_bytes);
    const bool past_the_l1 = access.cache == kernel::CachePolicy::cg;
    const hw::Cycles lines = l1_line_cycles(rows * split, row_bytes, gpu);
    part.copied += lines;
    part.demand[Server::l1] += lines;
    hw::Cycles array = short_row_cycles(rows, row_bytes, whole_lines * split, gpu);
    if (!past_the_l1) {
        const hw::Cycles into_l1 = narrow_line_cycles(rows, row_bytes, gpu);
        part.demand[Server::l1] += into_l1;
        array += into_l1;
        // Lines that enter the L1 take its array, from which the tensor cores read: a pass each, and their
        // sectors.
        if (tensor_cores_read)
            part.demand[Server::shared] += into_l1 + hw::Cycles(rows * whole_lines * split);
    }
    if (!tensor_cores_read) part.demand[Server::shared] += array;
}

}  // namespace warptime::model::machine
