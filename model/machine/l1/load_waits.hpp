// Wait for a plain load beyond its first piece, and loads whose data never left the L2.
// Ignores: other warps.
// Source: loaded_latency.hpp and narrow_rows.hpp; the access decides which law holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/dram/loaded_latency.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l1/narrow_rows.hpp"
#include "model/machine/l1/row_lanes.hpp"

namespace warptime::model::machine {

/// Extra wait for the last piece from DRAM beyond a single piece. The warp's load is one of `loads` under way
/// together.
[[nodiscard]] inline hw::Cycles wait_for_last(const kernel::Kernel& kernel, const kernel::Op& op, int loads,
                                              const hw::Cycles& load_latency, const MemoryPieces& pieces,
                                              const hw::Gpu& gpu) {
    if (op.cls != hw::InstructionClass::ld_global || op.access_count != 1 ||
        !(gpu.latency.l2_far < load_latency)) {
        return {};
    }
    const kernel::Access& access = kernel.accesses[op.first_access];
    if (in_narrow_rows(access)) return wait_for_box(kernel, access, gpu);
    if (access.pattern == kernel::PatternKind::collective || access.pattern == kernel::PatternKind::chase) {
        return {};
    }
    const LaneTouch touch = touch_of(kernel, access, op.active, pieces);
    const bool all = !(load_latency < gpu.latency.dram);
    // Listed lines lie in pages of their own; the pieces of a line come together.
    if (access.pattern == kernel::PatternKind::listed) {
        return gpu.dram.place_wait * wait_of_batch(static_cast<int>(touch.lines), loads, all);
    }
    return gpu.dram.queue * wait_of_batch(static_cast<int>(touch.granules), loads, all);
}

/// True if the description says that the data are warm: their latency is the L2's, whatever other data wait
/// for.
[[nodiscard]] inline bool left_in_l2(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.access_count != 1) return false;
    const kernel::Access& access = kernel.accesses[op.first_access];
    if (access.pattern == kernel::PatternKind::chase) return false;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    return buffer.before == kernel::Before::warm && !is_local(buffer);
}

/// Whether a load passes the L1 by, in code whose CTAs wait for what others have written: the L2 has that.
[[nodiscard]] inline bool written_by_others(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (kernel.hand_overs.wait == kernel::no_id || op.access_count != 1) return false;
    const kernel::Access& read = kernel.accesses[op.first_access];
    return read.cache == kernel::CachePolicy::cg && read.direction == kernel::Direction::read;
}

}  // namespace warptime::model::machine
