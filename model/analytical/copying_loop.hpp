// A loop whose warps copy ahead by cp.async and multiply what they have copied: one CTA alone on its SM.
// Ignores: the order in which the compiler places loads of operands and products; why deeper pipelines are
// not hindered by the operand reads of wgmma while pipelines of two stages are.
// Source: slopes over K of 150 Triton kernels whose operands lie in the L2 (triton_loop, fit rows). With
// stages to spare a trip of mma.sync takes its busiest server and, on top of it, what lies between the end of
// one trip's work and the begin of the next one's: two barriers, address arithmetic, operands on their way.
// Products of wgmma are not waited for until the next trip's are issued, so that tensor cores go on
// meanwhile, and a trip takes its warps' own instructions or its busiest server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/traffic.hpp"

#include <algorithm>
#include <numeric>

namespace warptime::model::analytical {

/// Whether the warps that multiply also copy, each lane its bytes.
template <class S>
[[nodiscard]] bool copies_by_lanes(const ItemDemand<S>& item) {
    return item.self_fed && !(hw::Cycles<S>{} < item.loop.demand[Server::tma]);
}

/// Whether the tensor cores read the operands of such a loop themselves (wgmma).
template <class S>
[[nodiscard]] bool reads_by_wgmma(const ItemDemand<S>& item) {
    return hw::Cycles<S>{} < item.loop.demand[Server::shared_write];
}

/// Least time of a trip by the order of a warp's own instructions. Products of wgmma are waited for in the
/// next trip, behind the issue of its own (128x256x64 takes 1026 cycles with 1024 of tensor cores), so that
/// neither their latency nor what stands before them adds to it.
template <class S>
[[nodiscard]] hw::Cycles<S> own_chain(const ItemDemand<S>& item, const hw::Gpu<S>& gpu) {
    if (!copies_by_lanes(item) || !reads_by_wgmma(item) || item.gathers) return item.loop.chain;
    const hw::Cycles<S> around = gpu.instructions[hw::InstructionClass::wgmma].latency + item.copy_issue;
    return hw::max(hw::Cycles<S>{}, item.loop.chain - around);
}

/// Least time of a trip of a CTA alone, whatever its stages; 0 for loops of another kind. With wgmma it takes
/// its warps pipeline.copying_turn beside their copies (two barriers, addresses, the issue of the products),
/// and pipeline.copy_interval for each copy of a sub-partition: their addresses stand in few registers, which
/// the copy before has to have read; those of an operand across K are a constant apart and take less
/// (pipeline.copy_interval_across). Products that the compiler makes wait for one another (128x128x64 with
/// eight warps and split K: 1050 cycles a trip, of which 514 are this) come before the copies.
template <class S>
[[nodiscard]] hw::Cycles<S> copying_turn(const ItemDemand<S>& item, const hw::Gpu<S>& gpu) {
    if (!copies_by_lanes(item)) return {};
    const bool wgmma = reads_by_wgmma(item);
    hw::Cycles<S> busiest{};
    for (std::size_t i = 0; i < server_count; ++i) {
        // Nor is wgmma waited for when it reads.
        if (static_cast<Server>(i) == Server::shared && wgmma) continue;
        if (static_cast<Server>(i) != Server::tensor) busiest = hw::max(busiest, item.loop.demand.cycles[i]);
    }
    if (!wgmma) return busiest + gpu.pipeline.turn;
    const S warps = hw::max(S(1.0), S(item.warps) / gpu.sm.sub_partitions.value());
    const hw::Cycles<S> copies = gpu.pipeline.copy_interval * S(item.copies_along_k) +
                                 gpu.pipeline.copy_interval_across * S(item.copies - item.copies_along_k);
    return hw::max(busiest, item.multiplied + gpu.pipeline.copying_turn + copies * warps);
}

/// From the issue of a stage's copies by lanes until its first bytes arrive from the L2.
template <class S>
[[nodiscard]] hw::Cycles<S> near_copy_latency(const hw::Gpu<S>& gpu) {
    return gpu.latency.l2_far + gpu.latency.cp_async_l2;
}

/// Share of the trips of a chain of stages `ahead` apart that wait for DRAM. It gives at least
/// `dram.access_bytes` of a row, or what the copies ask for, with which the next trips' pieces come along
/// where they are shorter; of the `ahead` chains the one that meets most of the first pieces sets the pace
/// (fp8 tiles with 32 bytes of a row a trip are quicker with two stages, not with three: triton_fp8).
template <class S>
[[nodiscard]] S first_of_granule(const ItemDemand<S>& item, int ahead, const hw::Gpu<S>& gpu) {
    double share = 0.0;
    for (std::size_t b = 0; b < item.buffers.size(); ++b) {
        const double bytes = item.buffers[b].trip_bytes;
        if (!(bytes > 0.0)) continue;
        const double brought = std::max(hw::value_of(gpu.dram.access_bytes), item.buffers[b].brought_bytes);
        const int trips = static_cast<int>(brought / bytes);
        share = std::max(share, trips > 1 ? static_cast<double>(std::gcd(ahead, trips)) / trips : 1.0);
    }
    return S(share > 0.0 ? share : 1.0);
}

/// Share of the trips that wait for DRAM: of waves after the first only those of items that read what no wave
/// has read, with the first of them to do so.
template <class S>
[[nodiscard]] S waits_for_dram(const ItemDemand<S>& item, const Traffic<S>& traffic, int ahead,
                               const hw::Gpu<S>& gpu) {
    const S later = S((traffic.waves - 1.0) * traffic.fresh_later) * traffic.wait_with_first;
    return (S(1.0) + later) / S(traffic.waves) * first_of_granule(item, ahead, gpu);
}

/// The same as `near_copy_latency` over all waves: some wait for DRAM, and where all CTAs ask for a trip's
/// bytes at the same moment, for all of them. `ahead`: stages that are under way.
template <class S>
[[nodiscard]] hw::Cycles<S> copy_latency(const ItemDemand<S>& item, const Traffic<S>& traffic, int ahead,
                                         const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> near = near_copy_latency(gpu);
    if (!traffic.from_dram) return near;
    const hw::Cycles<S> far = gpu.latency.dram + gpu.latency.cp_async_extra;
    const hw::Seconds<S> all =
        dram_seconds(traffic.dram_read - traffic.dram_row_read, traffic.dram_row_read, hw::Bytes<S>{}, gpu);
    const S of_trip(1.0 / (traffic.waves * std::max(1.0, item.trips)));
    const S fresh = waits_for_dram(item, traffic, ahead, gpu);
    // CTAs that wait for lines of their own are seldom at the same trip.
    const S together = S(1.0) - traffic.own_share * (S(1.0) - gpu.l2.merge_private.value());
    const hw::Cycles<S> burst = all * (gpu.clock.boost * gpu.clock.tensor_base) * of_trip * together;
    // Of the burst what comes while the stage is on its way into the SM costs nothing: the larger the stage,
    // the more of it (256x128x128, two stages: 17 % too slow on 120 SMs and 1 % too fast on 12).
    const hw::Cycles<S> taken =
        hw::max(item.loop.demand[Server::crossbar_read], item.loop.demand[Server::l1]);
    return near + (far - near) * fresh + burst * (far / (far + taken));
}

/// What the transfer of a stage takes longer with two stages, where all of it comes while wgmma reads the
/// stage before: until the product is done, copies get what its reads leave of shared memory. `before`: from
/// the issue of the copies until they begin to arrive. Recorded loops of 256x128x64 and 128x256x64 with two
/// stages take 1460 and 1230 cycles a trip where latency and transfer are 1110 (triton_loop).
template <class S>
[[nodiscard]] hw::Cycles<S> hindered_by_reads(const ItemDemand<S>& item, const hw::Cycles<S>& before,
                                              const hw::Gpu<S>& gpu) {
    const Demand<S>& demand = item.loop.demand;
    const S writes = demand[Server::shared_write].value();
    if (!copies_by_lanes(item) || !(S(0.0) < writes)) return {};
    // Those of several warpgroups have been counted with the writes.
    constexpr int warpgroup = 4;
    const S counted = item.warps > warpgroup ? writes * gpu.shared.copy_share.value() : S(0.0);
    const S reads = demand[Server::shared].value() - counted;
    const S product = hw::max(demand[Server::tensor].value(), reads);
    const S transfer = hw::max(demand[Server::crossbar_read], demand[Server::l1]).value();
    const S free = S(1.0) - reads / product;
    const S speed = hw::min(S(1.0), free * transfer / writes);
    const S within = hw::max(S(0.0), product - before.value());
    // Either the product ends first, or the transfer at its lower speed.
    return hw::Cycles<S>(
        hw::min(within * (S(1.0) - speed), transfer * (S(1.0) - speed) / hw::max(speed, S(1e-3))));
}

}  // namespace warptime::model::analytical
