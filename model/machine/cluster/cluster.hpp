// Path between the SMs of a cluster: cycles for what loads, stores and atomics ask of other CTAs' memory.
// CTAs of one rank lie on the same SMs: where most turn to one CTA, these SMs serve for all (Access::skew).
// Ignores: distance within the cluster; the banks of the SM that is read, which deliver far more.
// Source: microbench_dsmem dsmem_read (key shared.cluster_bandwidth); kernels/cluster_leader (keys
// shared.cluster_ingest, shared.cluster_atomic).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/issue/op_issue.hpp"
#include "model/machine/l1/lane_touch.hpp"

#include <algorithm>

namespace warptime::model::machine {

[[nodiscard]] inline hw::Cycles cluster_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / gpu.shared.cluster_bandwidth;
}

/// Whether an op goes to the shared memory of other CTAs of the cluster, by lanes.
[[nodiscard]] inline bool goes_to_peers(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.access_count == 0) return false;
    const kernel::Access& access = kernel.accesses[op.first_access];
    return access.buffer != kernel::no_id && access.pattern != kernel::PatternKind::collective &&
           kernel.buffers[static_cast<std::size_t>(access.buffer)].space == kernel::Space::cluster_shared;
}

/// Bytes that one warp's instruction of such an op moves: whole sectors.
[[nodiscard]] inline double peer_bytes(const kernel::Kernel& kernel, const kernel::Op& op,
                                       const hw::Gpu& gpu) {
    const MemoryPieces pieces = pieces_of(gpu);
    return touch_of(kernel, kernel.accesses[op.first_access], op.active, pieces).sectors * pieces.sector;
}

/// Cycles of the busiest SM for one warp's instruction of such an op, spread over the CTAs of the cluster.
[[nodiscard]] inline hw::Cycles peer_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                            const hw::Gpu& gpu) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const hw::Bytes bytes(peer_bytes(kernel, op, gpu));
    const hw::Cycles out = bytes / gpu.shared.cluster_bandwidth;
    switch (access.direction) {
        case kernel::Direction::read:
            return out * access.skew;
        case kernel::Direction::write:
            return std::max(out * std::min(1.0, access.skew),
                            bytes / gpu.shared.cluster_ingest * access.skew);
        case kernel::Direction::atomic:
            break;
    }
    // What comes from afar is not counted together where lanes meet at a word.
    kernel::Op apart = op;
    apart.returns = true;
    const hw::Cycles in = bytes / gpu.shared.cluster_ingest +
                          gpu.shared.cluster_atomic * shared_passes(apart, access, kernel, gpu);
    return std::max(out * std::min(1.0, access.skew), in * access.skew);
}

}  // namespace warptime::model::machine
