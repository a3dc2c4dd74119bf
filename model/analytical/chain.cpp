// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/chain.hpp"

#include "hw/dual.hpp"
#include "hw/math.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/waits_in_order.hpp"

#include <algorithm>

namespace warptime::model::analytical {

int stages_ahead(const kernel::Kernel& kernel) {
    int depth = 1;
    for (const kernel::Token& token : kernel.tokens) {
        const bool group = token.kind == kernel::TokenKind::async_group;
        depth = std::max(depth, group ? token.depth - 1 : token.depth);
    }
    return depth;
}

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
template <class S>
hw::Cycles<S> copied_alone(const ItemDemand<S>& item, const hw::Cycles<S>& load, int ahead,
                           const hw::Cycles<S>& from_l2, const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> taken = fill_latency(item, load, false, gpu) - load;
    const bool meet = hw::Cycles<S>{} < item.loop.demand[Server::barrier];
    const S parts(meet ? 1.0 : std::max(1.0, static_cast<double>(item.warps)));
    const hw::Cycles<S> last = last_piece(item.loop.received_bytes / hw::value_of(parts), load, gpu);
    if (meet && ahead == 1)
        return load + last + hw::max(item.loop.chain, item.copy_issue + hw::max(taken, from_l2));
    const hw::Cycles<S> around = load + taken / parts + last + (meet ? item.loop.chain : item.copy_issue);
    return hw::max(around / S(static_cast<double>(ahead)), item.loop.chain);
}

}  // namespace

template <class S>
hw::Cycles<S> fill_latency(const ItemDemand<S>& item, const hw::Cycles<S>& load, bool bulk,
                           const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> engine = bulk ? gpu.latency.tma_extra : hw::Cycles<S>{};
    // What a trip gathers is no part of the stage that it copies.
    const hw::Cycles<S> lines = item.gathers ? item.loop.copied : item.loop.demand[Server::l1];
    const hw::Cycles<S> taken = hw::max(lines, item.loop.demand[Server::tma]);
    return load + engine + hw::max(item.loop.demand[Server::crossbar_read], taken);
}

template <class S>
hw::Cycles<S> loop_chain(const kernel::Kernel& kernel, const ItemDemand<S>& item, const hw::Cycles<S>& load,
                         const hw::Gpu<S>& gpu, const hw::Cycles<S>& from_l2) {
    if (!item.asynchronous) {
        return item.loop.chain;
    }
    const bool bulk = item.loop.demand[Server::tma] > hw::Cycles<S>{};
    if (!bulk && !item.self_fed) return copied_alone(item, load, stages_ahead(kernel), from_l2, gpu);
    // A stage that the bulk engine fills is free when it has been multiplied. Warps that copy for themselves
    // issue the copies of a stage once all have passed its last reading, before they multiply. What they do
    // in a trip before they wait, copies of earlier ones travel meanwhile.
    // With a single stage they multiply first all the same.
    const hw::Cycles<S> turn =
        item.self_fed && has_stage_to_spare(kernel) ? item.copy_issue - item.until_wait : item.loop.chain;
    if (!bulk && item.waits_behind_copies) {
        // From a wait to the next trip's copies, and from those to the wait for them, as many trips on as
        // there are stages under way. What the L1 takes of each copy passes while they are issued.
        const hw::Cycles<S> to_copies = hw::max(item.loop.chain - item.behind_copies, hw::Cycles<S>{});
        const hw::Cycles<S> there = load + item.loop.demand[Server::crossbar_read];
        return (there + to_copies) / S(static_cast<double>(stages_ahead(kernel)));
    }
    hw::Cycles<S> around = fill_latency(item, load, bulk, gpu) + turn;
    // Copies of wgmma's loops stand behind the issue of all products of their trip, the last of which wait
    // for room.
    if (copies_by_lanes(item)) around += item.others_read + item.loop.queued;
    const int ahead = stages_ahead(kernel);
    if (ahead == 1 && !item.gathers) {
        const hw::Cycles<S> transfer =
            hw::max(item.loop.demand[Server::crossbar_read], item.loop.demand[Server::l1]);
        around += hindered_by_reads(item, around - transfer, gpu);
    }
    const bool reads_behind = bulk && item.self_fed && has_stage_to_spare(kernel);
    // A ring that a thread of its own refills waits for whole stages, too (microbench_bandwidth_in_flight).
    if (!item.self_fed || reads_behind) around += wait_for_stage(item, load, gpu);
    // Those that refill their ring themselves take its stages in order, too (triton_tma: tiles with a CTA an
    // SM wait 85 to 140 cycles a trip longer, whatever their stages).
    if (reads_behind) around += waits_in_order(ahead, S(gpu.latency.l2_far < load ? 1.0 : 0.0), gpu);
    if (!reads_behind) return around / S(static_cast<double>(ahead));
    // Products of one trip are still under way when the next one's are issued: the place of a stage is free
    // when its own are done.
    const hw::Cycles<S> products =
        item.loop.demand[Server::tensor] + gpu.instructions[hw::InstructionClass::wgmma].latency;
    return hw::max(around / S(static_cast<double>(ahead)), (around + products) / S(ahead + 1.0));
}

#define WARPTIME_INSTANTIATE(S)                                                                          \
    template hw::Cycles<S> fill_latency(const ItemDemand<S>&, const hw::Cycles<S>&, bool,                \
                                        const hw::Gpu<S>&);                                              \
    template hw::Cycles<S> loop_chain(const kernel::Kernel&, const ItemDemand<S>&, const hw::Cycles<S>&, \
                                      const hw::Gpu<S>&, const hw::Cycles<S>&);
WARPTIME_INSTANTIATE(double)
WARPTIME_INSTANTIATE(hw::Dual<4>)

}  // namespace warptime::model::analytical
