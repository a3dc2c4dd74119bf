// Path between the SMs of a cluster: cycles for what loads, stores and atomics ask of other CTAs' memory.
// A load asks once for each 64 bytes and gets back the sectors that it touches; each sector that atomics
// touch is asked for and answered by itself.
// CTAs of one rank lie on the same SMs: where most turn to one CTA, these SMs serve for all (Access::skew).
// Ignores: distance within the cluster and its size (clusters of eight take 0.16 longer than those of four);
// sectors of which stores fill words apart, which take twice as long; the banks of the SM that is read,
// which deliver far more.
// Source: microbench_dsmem dsmem_read (key shared.cluster_bandwidth); kernels/cluster_leader (keys
// shared.cluster_ingest, shared.cluster_atomic); kernels/ladders/cluster_lanes.cu for lanes apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/issue/op_issue.hpp"
#include "model/machine/l1/lane_touch.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Whether an op goes to the shared memory of other CTAs of the cluster, by lanes.
[[nodiscard]] inline bool goes_to_peers(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.access_count == 0) return false;
    const kernel::Access& access = kernel.accesses[op.first_access];
    return access.buffer != kernel::no_id && access.pattern != kernel::PatternKind::collective &&
           kernel.buffers[static_cast<std::size_t>(access.buffer)].space == kernel::Space::cluster_shared;
}

/// What one warp's instruction of such an op touches, cut into what a load asks for at once.
[[nodiscard]] inline LaneTouch peer_touch(const kernel::Kernel& kernel, const kernel::Op& op,
                                          const hw::Gpu& gpu) {
    MemoryPieces pieces = pieces_of(gpu);
    pieces.granule = 2.0 * pieces.sector;
    return touch_of(kernel, kernel.accesses[op.first_access], op.active, pieces);
}

/// Cycles of the SM that asks, for one warp's instruction of such an op.
[[nodiscard]] inline hw::Cycles asking_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                              const hw::Gpu& gpu) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const LaneTouch touch = peer_touch(kernel, op, gpu);
    const hw::Bytes bytes = gpu.l1.sector * touch.sectors;
    const hw::Cycles back = bytes / gpu.shared.cluster_ingest;
    const hw::Bytes asked_at_once = gpu.l1.sector * (2.0 * touch.granules);
    switch (access.direction) {
        case kernel::Direction::read:
            // Whole 64 bytes take the rate of the way, of which what comes back is a part.
            return std::max(bytes / gpu.shared.cluster_bandwidth,
                            asked_at_once / gpu.shared.cluster_bandwidth -
                                asked_at_once / gpu.shared.cluster_ingest + back);
        case kernel::Direction::write:
            return bytes / gpu.shared.cluster_bandwidth;
        case kernel::Direction::atomic:
            break;
    }
    return back + gpu.shared.cluster_atomic * touch.sectors;
}

/// Cycles of the busiest SM for one warp's instruction of such an op, spread over the CTAs of the cluster.
[[nodiscard]] inline hw::Cycles peer_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                            const hw::Gpu& gpu) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const hw::Bytes bytes = gpu.l1.sector * peer_touch(kernel, op, gpu).sectors;
    hw::Cycles in = access.direction == kernel::Direction::read ? bytes / gpu.shared.cluster_bandwidth
                                                                : bytes / gpu.shared.cluster_ingest;
    if (access.direction == kernel::Direction::atomic) {
        // What comes from afar is not counted together where lanes meet at a word.
        kernel::Op apart = op;
        apart.returns = true;
        in = in + gpu.shared.cluster_atomic * shared_passes(apart, access, kernel, gpu);
    }
    return std::max(asking_cycles(kernel, op, gpu) * std::min(1.0, access.skew), in * access.skew);
}

}  // namespace warptime::model::machine
