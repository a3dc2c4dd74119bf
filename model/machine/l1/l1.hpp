// L1 data path: cycles of loads and asynchronous copies in its tag stage and its array.
// Every load that misses passes the tag stage. Copies of 16 bytes a lane bypass the array line by line, so
// short rows cost more for their bytes.
// Ignores: hits of global loads, and lines beyond four a request.
// Source: keys l1.request_interval (products whose unaligned rows force 2- and 4-byte loads) and
// l1.line_interval (a sweep of tiles); docs/mechanisms/evidence.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l1/row_lanes.hpp"

#include <algorithm>

namespace warptime::model::machine {

[[nodiscard]] inline hw::Cycles l1_cycles(double requests, const hw::Gpu& gpu) {
    return gpu.l1.request_interval * requests;
}

/// Cycles of one load that hits. The array makes one pass over the banks a cycle; the tags look up l1.tags
/// lines a cycle. Source: microbench_spill local_chase, whose lanes lie in 16 and 32 lines without bank
/// conflicts.
[[nodiscard]] inline double hit_cycles(const LaneTouch& touch, const hw::Gpu& gpu) {
    return std::max(touch.passes, touch.lines / gpu.l1.tags.value());
}

/// Cycles of `rows` contiguous rows of `row_bytes`, each at the begin of a line.
[[nodiscard]] inline hw::Cycles l1_line_cycles(double rows, double row_bytes, const hw::Gpu& gpu) {
    const double line = gpu.l1.line.value();
    return gpu.l1.line_interval * (rows * std::max(1.0, row_bytes / line));
}

/// Extra cycles of the array for copies of less than 16 bytes a lane. Lines of such copies cannot bypass the
/// L1 (PTX ISA 8.7, cp.async): they enter it and leave it sector by sector. Two in the time of a line is
/// chosen; a fit had 1.16 of that (docs/mechanisms/constants.md).
[[nodiscard]] inline hw::Cycles narrow_line_cycles(double rows, double row_bytes, const hw::Gpu& gpu) {
    const double sectors = rows * std::max(1.0, row_bytes / gpu.l1.sector.value());
    return gpu.l1.line_interval * (0.5 * sectors);
}

/// Extra cycles of the array for copies of short rows, beyond their bytes. A line holds the array for at
/// least shared.copy_share of a pass, however few of its bytes are copied. Source: loops of mma.sync with 32
/// along K, whose operand reads and copies share the array.
[[nodiscard]] inline hw::Cycles short_row_cycles(double rows, double row_bytes, double lines,
                                                 const hw::Gpu& gpu) {
    const double bytes = (hw::Bytes(row_bytes) / gpu.shared.bandwidth).value();
    return hw::Cycles(rows * std::max(0.0, gpu.shared.copy_share.value() * lines - bytes));
}

/// Cycles of one warp's load or copy whose lanes lie in narrow rows.
[[nodiscard]] inline hw::Cycles l1_row_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                              const kernel::Access& access, const hw::Gpu& gpu) {
    const bool copies = op.cls == hw::InstructionClass::cp_async;
    return hw::Cycles(row_load_cycles(kernel, access, copies, gpu.l1.tag_interval.value(),
                                      gpu.l1.tags.value(), pieces_of(gpu)));
}

}  // namespace warptime::model::machine
