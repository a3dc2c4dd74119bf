// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/chain.hpp"

#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/steady/waits_in_order.hpp"

#include <algorithm>

namespace warptime::model::analytical {

namespace {

bool has_stage_to_spare(const kernel::Kernel& kernel) {
    return std::any_of(kernel.tokens.begin(), kernel.tokens.end(),
                       [](const kernel::Token& token) { return token.depth > 1; });
}

/// The period of lanes' copies that their warps do not multiply: `ahead` stages are under way, and a trip
/// takes no less than its own instructions. From DRAM the last piece of a stage comes later than a single
/// one would. Warps that meet wait for the whole stage before they go on; those that never do wait for their
/// own part of it, and compute while it is under way (microbench_bulk_copy, async: no longer for 16 warps
/// than for one). With one stage under way its first copies travel while the
/// rest is issued, and nobody fills the slices' queues meanwhile (microbench_cp_async_rows, two stages).
hw::Cycles copied_alone(const ItemDemand& item, const hw::Cycles& load, int ahead, const hw::Cycles& from_l2,
                        const hw::Gpu& gpu) {
    const hw::Cycles taken = fill_latency(item, load, false, gpu) - load;
    const bool meet = hw::Cycles{} < item.loop.demand[machine::Server::barrier];
    const double parts = meet ? 1.0 : std::max(1.0, static_cast<double>(item.warps));
    const hw::Cycles last = last_piece(item.loop.received_bytes / parts, load, gpu);
    if (meet && ahead == 1)
        return load + last + std::max(item.loop.chain, item.copy_issue + std::max(taken, from_l2));
    const hw::Cycles around = load + taken / parts + last + (meet ? item.loop.chain : item.copy_issue);
    return std::max(around / static_cast<double>(ahead), item.loop.chain);
}

}  // namespace

hw::Cycles fill_latency(const ItemDemand& item, const hw::Cycles& load, bool bulk, const hw::Gpu& gpu) {
    const hw::Cycles engine = bulk ? gpu.latency.tma_extra : hw::Cycles{};
    // What a trip gathers is no part of the stage that it copies.
    const hw::Cycles lines = item.gathers ? item.loop.copied : item.loop.demand[machine::Server::l1];
    const hw::Cycles taken = std::max(lines, item.loop.demand[machine::Server::tma]);
    return load + engine + std::max(item.loop.demand[machine::Server::crossbar_read], taken);
}

hw::Cycles loop_chain(const kernel::Kernel& kernel, const ItemDemand& item, const hw::Cycles& load,
                      const hw::Gpu& gpu, const hw::Cycles& from_l2) {
    if (!item.asynchronous) {
        return item.loop.chain;
    }
    const bool bulk = item.loop.demand[machine::Server::tma] > hw::Cycles{};
    if (!bulk && !item.self_fed) return copied_alone(item, load, kernel::stages_ahead(kernel), from_l2, gpu);
    // A stage that the bulk engine fills is free when it has been multiplied. Warps that copy for themselves
    // issue the copies of a stage once all have passed its last reading, before they multiply. What they do
    // in a trip before they wait, copies of earlier ones travel meanwhile.
    // With a single stage they multiply first all the same.
    const hw::Cycles turn =
        item.self_fed && has_stage_to_spare(kernel) ? item.copy_issue - item.until_wait : item.loop.chain;
    if (!bulk && item.waits_behind_copies) {
        // From a wait to the next trip's copies, and from those to the wait for them, as many trips on as
        // there are stages under way. What the L1 takes of each copy passes while they are issued.
        const hw::Cycles to_copies = std::max(item.loop.chain - item.behind_copies, hw::Cycles{});
        const hw::Cycles there = load + item.loop.demand[machine::Server::crossbar_read];
        return (there + to_copies) / static_cast<double>(kernel::stages_ahead(kernel));
    }
    hw::Cycles around = fill_latency(item, load, bulk, gpu) + turn;
    // Copies of wgmma's loops stand behind the issue of all products of their trip, the last of which wait
    // for room.
    if (copies_by_lanes(item)) around += item.others_read + item.loop.queued;
    const int ahead = kernel::stages_ahead(kernel);
    if (ahead == 1 && !item.gathers) {
        const hw::Cycles transfer =
            std::max(item.loop.demand[machine::Server::crossbar_read], item.loop.demand[machine::Server::l1]);
        around += hindered_by_reads(item, around - transfer, gpu);
    }
    const bool reads_behind = bulk && item.self_fed && has_stage_to_spare(kernel);
    // A ring that a thread of its own refills waits for whole stages, too (microbench_bandwidth_in_flight).
    if (!item.self_fed || reads_behind) around += wait_for_stage(item, load, gpu);
    // Warps that refill their ring themselves take its stages in order, too.
    if (reads_behind) around += steady::waits_in_order(ahead, gpu.latency.l2_far < load ? 1.0 : 0.0, gpu);
    if (!reads_behind) return around / static_cast<double>(ahead);
    // Products of one trip are still under way when the next one's are issued: the place of a stage is free
    // when its own are done.
    const hw::Cycles products =
        item.loop.demand[machine::Server::tensor] + gpu.instructions[hw::InstructionClass::wgmma].latency;
    return std::max(around / static_cast<double>(ahead), (around + products) / (ahead + 1.0));
}

}  // namespace warptime::model::analytical
