// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/clusters.hpp"

#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

namespace warptime::workloads::frontends::machine {

namespace {

/// Warps of the cluster that have not ended.
std::int32_t living_warps(const Cta& cta) {
    std::int32_t sum = 0;
    for (const Cta* const peer : cta.cluster) {
        sum += peer->live_warps;
    }
    return sum;
}

void end_phase_if_complete(Cta& root) {
    if (root.cluster_barrier_arrived > 0 && root.cluster_barrier_arrived >= living_warps(root)) {
        root.cluster_barrier_arrived = 0;
        ++root.cluster_barrier_generation;
    }
}

Flow arrive_at_cluster(Warp& warp, const Instruction& /*instruction*/, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Cta& root = *warp.cta->cluster.front();
    warp.cluster_generation = root.cluster_barrier_generation;
    ++root.cluster_barrier_arrived;
    end_phase_if_complete(root);
    return Flow::next;
}

Flow wait_for_cluster(Warp& warp, const Instruction& /*instruction*/, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Cta& root = *warp.cta->cluster.front();
    end_phase_if_complete(root);
    return root.cluster_barrier_generation == warp.cluster_generation ? Flow::waiting : Flow::next;
}

Flow elect(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const auto leader = static_cast<std::uint32_t>(std::countr_zero(enabled));
    warp.rows[instruction.destination].lane.fill(leader);
    write_predicate(warp, instruction.predicates_out[0], enabled, 1U << leader);
    return Flow::next;
}

}  // namespace

void decode_cluster_arrive(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = arrive_at_cluster;
    instruction.counts_all_lanes = true;
}

void decode_cluster_wait(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = wait_for_cluster;
    instruction.counts_all_lanes = true;
}

/// ELECT P, URd, PT
void decode_elect(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.destination = decoder.destination(1);
    instruction.execute = elect;
}

}  // namespace warptime::workloads::frontends::machine
