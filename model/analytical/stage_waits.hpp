// How long a CTA waits for its stages, and how earlier readers of the same panels shorten the wait.
// N CTAs that take turns at the servers of an SM are at N different places of their loops. Where others have
// asked for the same panels before, a trip waits for DRAM once in N times. The first CTA to ask for a panel
// waits each time. Later waves wait only where the reuse model says that panels come from DRAM.
// Ignores: which CTA of a panel is the first in every trip.
// Source: recorded loops (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/chain.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/analytical/waiting_behind_copies.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/steady/waits_in_order.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

struct StageWaits {
    hw::Cycles fill{};   ///< for the first stage of an item
    hw::Cycles chain{};  ///< least time of a trip, by its dependences
    hw::Cycles near{};   ///< the same where the stage comes from the L2
    /// Time of a trip at the server where CTAs queue that copy one stage ahead and do not multiply; 0 for
    /// others.
    hw::Cycles taken{};
    /// Share of the CTAs that wait for `chain` whoever shares their SM. These CTAs are the first to ask for
    /// their panels.
    double first = 0.0;
    /// The least time of a trip when `resident` CTAs share the SM.
    [[nodiscard]] hw::Cycles of(std::int64_t resident) const {
        const double in_turn = 1.0 / static_cast<double>(std::max<std::int64_t>(1, resident));
        return near + (chain - near) * (first + (1.0 - first) * in_turn);
    }
};

/// Whether the order of the tiles decides how long an SM waits for a stage. True where warps that multiply
/// also copy.
[[nodiscard]] inline bool sees_reuse(const ItemDemand& item) {
    return item.self_fed;
}

/// Extra time of the first stage beyond latency and transfer, where lanes copy and do not multiply. The extra
/// is issue, wait and barrier, less the bytes that arrive while a warp still issues (microbench_cold_load,
/// way=async).
[[nodiscard]] inline hw::Cycles around_lane_copies(const ItemDemand& item, const hw::Gpu& gpu) {
    const hw::Cycles issue =
        item.loop.demand[machine::Server::l1] / static_cast<double>(std::max(1, item.warps));
    return gpu.latency.cp_async_l2 - std::min(item.loop.demand[machine::Server::crossbar_read], issue);
}

/// Time of the L2's slices for one trip of all SMs at work, with one CTA each.
[[nodiscard]] inline hw::Cycles trip_from_l2(const kernel::Kernel& kernel, const ItemDemand& item,
                                             const Traffic& traffic, const hw::Gpu& gpu) {
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const double at_work = std::min(gpu.sm.count.value(), items);
    return machine::l2_cycles(traffic.l2_read * machine::slice_visits(gpu), gpu) *
           (at_work / (items * std::max(1.0, item.trips)));
}

[[nodiscard]] inline StageWaits stage_waits(const kernel::Kernel& kernel, const ItemDemand& item,
                                            bool from_dram, const hw::Gpu& gpu,
                                            const hw::Cycles& from_l2 = {}) {
    const hw::Cycles load = load_latency(from_dram, gpu);
    const hw::Cycles chain = loop_chain(kernel, item, load, gpu, from_l2);
    if (!item.asynchronous) return {{}, chain, chain};
    const bool bulk = item.loop.demand[machine::Server::tma] > hw::Cycles{};
    hw::Cycles fill = fill_latency(item, load, bulk, gpu);
    const bool lanes = !bulk && !item.self_fed;
    fill += lanes ? last_piece(item.loop.received_bytes / std::max(1, item.warps), load, gpu) +
                        around_lane_copies(item, gpu)
                  : wait_for_stage(item, load, gpu);
    const bool meet = hw::Cycles{} < item.loop.demand[machine::Server::barrier];
    if (!lanes || !meet || kernel::stages_ahead(kernel) > 1) return {fill, chain, chain};
    return {fill, chain, chain, std::max(fill_latency(item, load, false, gpu) - load, from_l2)};
}

/// Time that plain loads beside copies save against DRAM. Trips that find data of earlier waves wait only for
/// the L2.
[[nodiscard]] inline hw::Cycles gathered_sooner(const ItemDemand& item, const Traffic& traffic, int ahead,
                                                const hw::Gpu& gpu) {
    if (!item.gathers || !traffic.from_dram) return {};
    const double near = 1.0 - waits_for_dram(item, traffic, ahead, gpu);
    return (gpu.latency.dram - gpu.latency.l2_far) * near;
}

/// Waits in the first wave, and in waves that find data of earlier waves.
struct WaitsOfWaves {
    StageWaits first{}, later{};
    bool alike = false;  ///< both waves wait alike
    int ahead = 1;       ///< stages under way where the warps that multiply copy by lanes
    /// Mean time by which bytes gathered beside copies come sooner than from DRAM.
    hw::Cycles sooner{};
    CopyWaits copies{};  ///< of loops that wait for copies behind their own copies
};
[[nodiscard]] inline WaitsOfWaves waits_of_waves(const kernel::Kernel& kernel, const ItemDemand& item,
                                                 const Traffic& traffic, const hw::Gpu& gpu) {
    if (copies_by_lanes(item)) {
        const int ahead = kernel::stages_ahead(kernel);
        const hw::Cycles copy = copy_latency(item, traffic, ahead, gpu);
        const double fresh = traffic.from_dram ? waits_for_dram(item, traffic, ahead, gpu) : 0.0;
        const hw::Cycles chain =
            loop_chain(kernel, item, copy + steady::waits_in_order(ahead, fresh, gpu), gpu);
        const hw::Cycles near =
            traffic.from_dram
                ? loop_chain(kernel, item, near_copy_latency(gpu) + steady::waits_in_order(ahead, 0.0, gpu),
                             gpu)
                : chain;
        // latency.cp_async_extra already holds the wait for a stage's pieces. A stage has more time where
        // warps gather before their wait.
        const hw::Cycles sooner = gathered_sooner(item, traffic, ahead, gpu);
        const hw::Cycles gathered = std::max(hw::Cycles{}, item.until_wait - sooner);
        const hw::Cycles fill = fill_latency(item, copy, false, gpu) - gathered;
        const StageWaits all{std::max(hw::Cycles{}, fill), chain, near, {}, traffic.first_readers};
        return {all, all, true, ahead, sooner, {}};
    }
    StageWaits first =
        stage_waits(kernel, item, traffic.from_dram, gpu, trip_from_l2(kernel, item, traffic, gpu));
    if (multiplies_before_copies(item)) {
        return {first, first, true, 1, {}, copy_waits(item, traffic, kernel::stages_ahead(kernel), gpu)};
    }
    if (!traffic.from_dram || !sees_reuse(item)) return {first, first, true};
    const StageWaits near = stage_waits(kernel, item, false, gpu);
    const double fresh = traffic.fresh_later;
    first.near = near.chain;
    return {first,
            {near.fill + (first.fill - near.fill) * fresh, near.chain + (first.chain - near.chain) * fresh,
             near.chain}};
}

}  // namespace warptime::model::analytical
