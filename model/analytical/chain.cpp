// Latency of a stage, and the least period of a loop by its dependences.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/chain.hpp"

#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/machine/tensor/tensor_core.hpp"
#include "model/steady/waits_in_order.hpp"

#include <algorithm>

namespace warptime::model::analytical {

namespace {

bool has_stage_to_spare(const kernel::Kernel& kernel) {
    return std::any_of(kernel.tokens.begin(), kernel.tokens.end(),
                       [](const kernel::Token& token) { return token.depth > 1; });
}

/// Period of lanes' copies that their own warps do not multiply. `ahead` stages are under way, and a trip
/// takes no less than its own instructions. From DRAM, the last piece of a stage comes later than a single
/// piece. Warps that meet wait for the whole stage before they go on. Warps that never meet wait for their
/// own part and compute while that part is under way (microbench_bulk_copy, async: 16 warps take no longer
/// than one warp). With one stage under way, its first copies travel while the rest is issued. The slices'
/// queues then stay empty (microbench_cp_async_rows, two stages).
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
    // Gathered bytes of a trip are no part of the stage that it copies.
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
    // A stage that the bulk engine fills is free once it has been multiplied. Warps that copy for themselves
    // issue a stage's copies before they multiply, after all warps have read the old stage. Instructions of a
    // trip before its wait overlap with copies of earlier trips. With a single stage, warps multiply first
    // all the same.
    const hw::Cycles turn =
        item.self_fed && has_stage_to_spare(kernel) ? item.copy_issue - item.until_wait : item.loop.chain;
    if (!bulk && item.waits_behind_copies) {
        // The chain goes from a wait to the next trip's copies, and from the copies to their own wait. That
        // wait comes as many trips later as stages are under way. The L1 takes each copy while the next
        // copies are issued.
        const hw::Cycles to_copies = std::max(item.loop.chain - item.behind_copies, hw::Cycles{});
        const hw::Cycles there = load + item.loop.demand[machine::Server::crossbar_read];
        return (there + to_copies) / static_cast<double>(kernel::stages_ahead(kernel));
    }
    if (const kernel::CopyRing ring = kernel::copy_ring(kernel);
        bulk && !item.self_fed && ring.of_trip > 1.0) {
        // Each stage of a trip is filled and freed by itself.
        const hw::Cycles filled = fill_latency(item, load, bulk, gpu) - load - gpu.latency.tma_extra;
        const hw::Cycles around = load + gpu.latency.tma_extra + (filled + turn) / ring.of_trip;
        return (around + wait_for_stage(item, load, gpu)) * (ring.of_trip / ring.stages);
    }
    hw::Cycles around = fill_latency(item, load, bulk, gpu) + turn;
    // Copies of wgmma loops are issued after all products of their trip. The last products wait for room in
    // the queue.
    if (copies_by_lanes(item)) around += item.others_read + item.loop.queued;
    const int ahead = kernel::stages_ahead(kernel);
    if (ahead == 1 && !item.gathers) {
        const hw::Cycles transfer =
            std::max(item.loop.demand[machine::Server::crossbar_read], item.loop.demand[machine::Server::l1]);
        around += hindered_by_reads(item, around - transfer, gpu);
    }
    const bool reads_behind = bulk && item.self_fed && has_stage_to_spare(kernel);
    // A ring that a separate thread refills waits for whole stages, too (microbench_bandwidth_in_flight).
    if (!item.self_fed || reads_behind) around += wait_for_stage(item, load, gpu);
    // Warps that refill their own ring take its stages in order, too.
    if (reads_behind) around += steady::waits_in_order(ahead, gpu.latency.l2_far < load ? 1.0 : 0.0, gpu);
    if (!reads_behind) return around / static_cast<double>(ahead);
    // Products of one trip are still under way when the next trip's products are issued. The place of a stage
    // is free only when its own products are done.
    const hw::Cycles products =
        item.loop.demand[machine::Server::tensor] + machine::group_product_latency(gpu);
    return std::max(around / static_cast<double>(ahead), (around + products) / (ahead + 1.0));
}

}  // namespace warptime::model::analytical
