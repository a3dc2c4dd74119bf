// Path between the SMs of a cluster: cycles for what loads, stores and atomics ask of other CTAs' memory.
// Packets of up to 32 bytes go out of an SM one after another, whether it asks or answers. A load sends a
// packet for each line that it asks for, and the SM that is asked one for each sector; stores send their
// sectors; an atomic sends its sectors, and each is answered.
// CTAs of one rank lie on the same SMs: where most turn to one CTA, these SMs serve for all (Access::skew).
// Ignores: distance within the cluster, and its size (clusters of eight that all ask take 1.2 times as long);
// sectors of which a store fills words apart, which take two packets.
// Source: microbench_dsmem dsmem_read (key shared.cluster_bandwidth, of whole lines); kernels/cluster_leader
// (keys shared.cluster_ingest, shared.cluster_atomic); kernels/ladders/cluster_lanes.cu.
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

/// What one warp's instruction of such an op touches.
[[nodiscard]] inline LaneTouch peer_touch(const kernel::Kernel& kernel, const kernel::Op& op,
                                          const hw::Gpu& gpu) {
    return touch_of(kernel, kernel.accesses[op.first_access], op.active, pieces_of(gpu));
}

/// Cycles of a packet on its way out. A whole line is read by as many as it has sectors, and one that asks.
[[nodiscard]] inline hw::Cycles peer_packet(const hw::Gpu& gpu) {
    const double packets = (gpu.l1.line / gpu.l1.sector).value() + 1.0;
    return gpu.l1.line / gpu.shared.cluster_bandwidth * (1.0 / packets);
}

/// Cycles until a warp that loads can load again, in a cluster whose CTAs all ask and answer.
[[nodiscard]] inline hw::Cycles peer_load_interval(const kernel::Kernel& kernel, const kernel::Op& op,
                                                   const hw::Gpu& gpu) {
    const LaneTouch touch = peer_touch(kernel, op, gpu);
    return peer_packet(gpu) * (touch.lines + touch.sectors);
}

/// Cycles of the busiest SM for one warp's instruction of such an op, spread over the CTAs of the cluster.
[[nodiscard]] inline hw::Cycles peer_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                            const hw::Gpu& gpu) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const LaneTouch touch = peer_touch(kernel, op, gpu);
    const double served = access.skew;
    // A CTA to which all turn has no need to ask. Up to a skew of 1 all CTAs ask and serve alike.
    const double asked = served <= 1.0 ? served : std::max(0.0, 2.0 - served);
    const hw::Cycles packet = peer_packet(gpu);
    const hw::Cycles in = gpu.l1.sector * touch.sectors / gpu.shared.cluster_ingest;
    switch (access.direction) {
        case kernel::Direction::read:
            return packet * (asked * touch.lines + served * touch.sectors);
        case kernel::Direction::write:
            return std::max(packet * (std::min(1.0, served) * touch.sectors), in * served);
        case kernel::Direction::atomic:
            break;
    }
    // What comes from afar is not counted together where lanes meet at a word.
    kernel::Op apart = op;
    apart.returns = true;
    const hw::Cycles banks = gpu.shared.cluster_atomic * shared_passes(apart, access, kernel, gpu);
    return std::max(packet * ((asked + served) * touch.sectors), (in + banks) * served);
}

}  // namespace warptime::model::machine
