// What a CTA waits for its stages, and how that changes when CTAs before it have read the same panels.
// Ignores: which of the CTAs that share a panel is the first in every trip. Source: recorded loops of Triton
// kernels (triton_tma, triton_bf16): of N CTAs that take turns at the servers of an SM, at N
// different places of their loops, a trip waits for DRAM once in N times, where others have asked for the
// same panels before; who is the first to ask waits each time (triton_bf16, triton_bf16_second, products of
// one tile along m: 14 % too fast with two CTAs an SM). In waves after the first only where the reuse model
// says that panels come from DRAM. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/l2.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/traffic.hpp"
#include "model/analytical/waiting_behind_copies.hpp"
#include "model/analytical/waits_in_order.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

template <class S>
struct StageWaits {
    hw::Cycles<S> fill{};   ///< for the first stage of an item
    hw::Cycles<S> chain{};  ///< least time of a trip, by its dependences
    hw::Cycles<S> near{};   ///< the same where the stage comes from the L2
    /// Of a trip, at what CTAs that copy one stage ahead and do not multiply queue for; 0 of others.
    hw::Cycles<S> taken{};
    /// Share of the CTAs that wait for `chain` whoever shares their SM: those that are the first to ask for
    /// what they read.
    S first = S(0.0);
    /// The least time of a trip when `resident` CTAs share the SM.
    [[nodiscard]] hw::Cycles<S> of(std::int64_t resident) const {
        const S in_turn(1.0 / static_cast<double>(std::max<std::int64_t>(1, resident)));
        return near + (chain - near) * (first + (S(1.0) - first) * in_turn);
    }
};

/// Whether the order of the tiles tells how long an SM waits for a stage: where warps that multiply copy,
/// too.
template <class S>
[[nodiscard]] bool sees_reuse(const ItemDemand<S>& item) {
    return item.self_fed;
}

/// What the first stage that lanes copy, and only copy, takes beyond latency and transfer: issue, wait and
/// meeting, less what arrives while a warp issues the rest (microbench_cold_load, way=async).
template <class S>
[[nodiscard]] hw::Cycles<S> around_lane_copies(const ItemDemand<S>& item, const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> issue =
        item.loop.demand[Server::l1] / S(static_cast<double>(std::max(1, item.warps)));
    return gpu.latency.cp_async_l2 - hw::min(item.loop.demand[Server::crossbar_read], issue);
}

/// What the slices of the L2 take for one trip of all SMs at work, each of one CTA.
template <class S>
[[nodiscard]] hw::Cycles<S> trip_from_l2(const kernel::Kernel& kernel, const ItemDemand<S>& item,
                                         const Traffic<S>& traffic, const hw::Gpu<S>& gpu) {
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const double at_work = std::min(hw::value_of(gpu.sm.count), items);
    return l2_cycles(traffic.l2_read * slice_visits(gpu), gpu) *
           S(at_work / (items * std::max(1.0, item.trips)));
}

template <class S>
[[nodiscard]] StageWaits<S> stage_waits(const kernel::Kernel& kernel, const ItemDemand<S>& item,
                                        bool from_dram, const hw::Gpu<S>& gpu,
                                        const hw::Cycles<S>& from_l2 = {}) {
    const hw::Cycles<S> load = load_latency(from_dram, gpu);
    const hw::Cycles<S> chain = loop_chain(kernel, item, load, gpu, from_l2);
    if (!item.asynchronous) return {{}, chain, chain};
    const bool bulk = item.loop.demand[Server::tma] > hw::Cycles<S>{};
    hw::Cycles<S> fill = fill_latency(item, load, bulk, gpu);
    const bool lanes = !bulk && !item.self_fed;
    fill += lanes ? last_piece(item.loop.received_bytes / std::max(1, item.warps), load, gpu) +
                        around_lane_copies(item, gpu)
                  : wait_for_stage(item, load, gpu);
    const bool meet = hw::Cycles<S>{} < item.loop.demand[Server::barrier];
    if (!lanes || !meet || stages_ahead(kernel) > 1) return {fill, chain, chain};
    return {fill, chain, chain, hw::max(fill_latency(item, load, false, gpu) - load, from_l2)};
}

/// What plain loads of a loop that also copies wait less than for DRAM: its trips that find what earlier
/// waves have read wait for the L2.
template <class S>
[[nodiscard]] hw::Cycles<S> gathered_sooner(const ItemDemand<S>& item, const Traffic<S>& traffic, int ahead,
                                            const hw::Gpu<S>& gpu) {
    if (!item.gathers || !traffic.from_dram) return {};
    const S near = S(1.0) - waits_for_dram(item, traffic, ahead, gpu);
    return (gpu.latency.dram - gpu.latency.l2_far) * near;
}

/// In the first wave, and in those that find what earlier ones have read.
template <class S>
struct WaitsOfWaves {
    StageWaits<S> first{}, later{};
    bool alike = false;      ///< both
    int ahead = 1;           ///< stages under way where the warps that multiply copy by lanes
    hw::Cycles<S> sooner{};  ///< that what a trip gathers beside copies comes than from DRAM, on average
    CopyWaits<S> copies{};   ///< of loops that wait for copies behind their own
};
template <class S>
[[nodiscard]] WaitsOfWaves<S> waits_of_waves(const kernel::Kernel& kernel, const ItemDemand<S>& item,
                                             const Traffic<S>& traffic, const hw::Gpu<S>& gpu) {
    if (copies_by_lanes(item)) {
        const int ahead = stages_ahead(kernel);
        const hw::Cycles<S> copy = copy_latency(item, traffic, ahead, gpu);
        const S fresh = traffic.from_dram ? waits_for_dram(item, traffic, ahead, gpu) : S(0.0);
        const hw::Cycles<S> chain = loop_chain(kernel, item, copy + waits_in_order(ahead, fresh, gpu), gpu);
        const hw::Cycles<S> near =
            traffic.from_dram
                ? loop_chain(kernel, item, near_copy_latency(gpu) + waits_in_order(ahead, S(0.0), gpu), gpu)
                : chain;
        // That its pieces come one by one is in the copies' latency (latency.cp_async_extra). What is
        // gathered before the wait for it, if it is, leaves it time.
        const hw::Cycles<S> sooner = gathered_sooner(item, traffic, ahead, gpu);
        const hw::Cycles<S> gathered = hw::max(hw::Cycles<S>{}, item.until_wait - sooner);
        const hw::Cycles<S> fill = fill_latency(item, copy, false, gpu) - gathered;
        const StageWaits<S> all{hw::max(hw::Cycles<S>{}, fill), chain, near, {}, traffic.first_readers};
        return {all, all, true, ahead, sooner, {}};
    }
    StageWaits<S> first =
        stage_waits(kernel, item, traffic.from_dram, gpu, trip_from_l2(kernel, item, traffic, gpu));
    if (multiplies_before_copies(item)) {
        return {first, first, true, 1, {}, copy_waits(item, traffic, stages_ahead(kernel), gpu)};
    }
    if (!traffic.from_dram || !sees_reuse(item)) return {first, first, true};
    const StageWaits<S> near = stage_waits(kernel, item, false, gpu);
    const S fresh(traffic.fresh_later);
    first.near = near.chain;
    return {first,
            {near.fill + (first.fill - near.fill) * fresh, near.chain + (first.chain - near.chain) * fresh,
             near.chain}};
}

}  // namespace warptime::model::analytical
