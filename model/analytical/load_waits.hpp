// What a warp waits for a plain load beyond the first of its pieces, and whose data never left the L2.
// Ignores: other warps. Source: loaded_latency.hpp and narrow_rows.hpp, whose laws it picks by the access.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/loaded_latency.hpp"
#include "model/analytical/narrow_rows.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/lane_touch.hpp"
#include "model/memory/local_memory.hpp"
#include "model/memory/row_lanes.hpp"

namespace warptime::model::analytical {

/// What a warp's plain load, one of `loads` under way together, waits for the last of its pieces from DRAM
/// beyond a single one.
template <class S>
[[nodiscard]] hw::Cycles<S> wait_for_last(const kernel::Kernel& kernel, const kernel::Op& op, int loads,
                                          const hw::Cycles<S>& load_latency,
                                          const memory::MemoryPieces& pieces, const hw::Gpu<S>& gpu) {
    if (op.cls != hw::InstructionClass::ld_global || op.access_count != 1 ||
        !(gpu.latency.l2_far < load_latency)) {
        return {};
    }
    const kernel::Access& access = kernel.accesses[op.first_access];
    if (memory::in_narrow_rows(access)) return wait_for_box(kernel, access, gpu);
    if (access.pattern == kernel::PatternKind::collective || access.pattern == kernel::PatternKind::chase) {
        return {};
    }
    const int asked = static_cast<int>(memory::touch_of(kernel, access, op.active, pieces).granules);
    const bool all = !(load_latency < gpu.latency.dram);
    return gpu.dram.queue * S(wait_of_batch(asked, loads, all));
}

/// What the description says is warm is waited for as long as it takes from the L2, whatever the rest is.
[[nodiscard]] inline bool left_in_l2(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.access_count != 1) return false;
    const kernel::Access& access = kernel.accesses[op.first_access];
    if (access.pattern == kernel::PatternKind::chase) return false;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    return buffer.before == kernel::Before::warm && !memory::is_local(buffer);
}

}  // namespace warptime::model::analytical
