// A loop whose warps copy ahead by cp.async and multiply what they have copied: one CTA alone on its SM.
// Ignores: the order in which the compiler places loads of operands and products; why deeper pipelines are
// not hindered by the operand reads of wgmma while pipelines of two stages are.
// With stages to spare a trip of mma.sync takes its busiest server, and the way from the end of one trip's
// work to the begin of the next: two barriers, address arithmetic, operands on their way. Nobody waits for
// products of wgmma until the next trip's are issued, so that tensor cores go on meanwhile. Such a trip takes
// its warps' own instructions or its busiest server. Source: slopes over K of 150 loops whose operands lie in
// the L2 (docs/mechanisms/evidence.md). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/machine/dram/dram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace warptime::model::analytical {

/// Whether the warps that multiply also copy, each lane its bytes.
[[nodiscard]] inline bool copies_by_lanes(const ItemDemand& item) {
    return item.self_fed && !(hw::Cycles{} < item.loop.demand[machine::Server::tma]);
}

/// Whether the tensor cores read the operands of such a loop themselves (wgmma).
[[nodiscard]] inline bool reads_by_wgmma(const ItemDemand& item) {
    return hw::Cycles{} < item.loop.demand[machine::Server::shared_write];
}

/// Least time of a trip by the order of a warp's own instructions. Products of wgmma are waited for in the
/// next trip, behind the issue of its own (128x256x64 takes 1026 cycles with 1024 of tensor cores), so that
/// neither their latency nor what stands before them adds to it.
[[nodiscard]] inline hw::Cycles own_chain(const ItemDemand& item, const hw::Gpu& gpu) {
    if (!copies_by_lanes(item) || !reads_by_wgmma(item) || item.gathers) return item.loop.chain;
    const hw::Cycles around = gpu.instructions[hw::InstructionClass::wgmma].latency + item.copy_issue;
    return std::max(hw::Cycles{}, item.loop.chain - around);
}

/// Least time of a trip of a CTA alone, whatever its stages; 0 for loops of another kind. With wgmma it takes
/// its warps pipeline.copying_turn beside their copies (two barriers, addresses, the issue of the products),
/// and pipeline.copy_interval for each copy of a sub-partition: their addresses stand in few registers, which
/// the copy before has to have read; those of an operand across K are a constant apart and take less
/// (pipeline.copy_interval_across). Products that the compiler makes wait for one another (128x128x64 with
/// eight warps and split K: 1050 cycles a trip, of which 514 are this) come before the copies.
[[nodiscard]] inline hw::Cycles copying_turn(const ItemDemand& item, const hw::Gpu& gpu) {
    if (!copies_by_lanes(item)) return {};
    const bool wgmma = reads_by_wgmma(item);
    hw::Cycles busiest{};
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        // Nor is wgmma waited for when it reads.
        if (static_cast<machine::Server>(i) == machine::Server::shared && wgmma) continue;
        if (static_cast<machine::Server>(i) != machine::Server::tensor)
            busiest = std::max(busiest, item.loop.demand.cycles[i]);
    }
    if (!wgmma) return busiest + gpu.pipeline.turn;
    const double warps = std::max(1.0, item.warps / gpu.sm.sub_partitions.value());
    const hw::Cycles copies = gpu.pipeline.copy_interval * item.copies_along_k +
                              gpu.pipeline.copy_interval_across * (item.copies - item.copies_along_k);
    return std::max(busiest, item.multiplied + gpu.pipeline.copying_turn + copies * warps);
}

/// From the issue of a stage's copies by lanes until its first bytes arrive from the L2.
[[nodiscard]] inline hw::Cycles near_copy_latency(const hw::Gpu& gpu) {
    return gpu.latency.l2_far + gpu.latency.cp_async_l2;
}

/// Share of the trips of a chain of stages `ahead` apart that wait for DRAM. It gives at least
/// `dram.access_bytes` of a row, or what the copies ask for, with which the next trips' pieces come along
/// where they are shorter. Of the `ahead` chains the one that meets most of the first pieces sets the pace.
[[nodiscard]] inline double first_of_granule(const ItemDemand& item, int ahead, const hw::Gpu& gpu) {
    double share = 0.0;
    for (std::size_t b = 0; b < item.buffers.size(); ++b) {
        const double bytes = item.buffers[b].trip_bytes;
        if (!(bytes > 0.0)) continue;
        const double brought = std::max(gpu.dram.access_bytes.value(), item.buffers[b].brought_bytes);
        const int trips = static_cast<int>(brought / bytes);
        share = std::max(share, trips > 1 ? static_cast<double>(std::gcd(ahead, trips)) / trips : 1.0);
    }
    return share > 0.0 ? share : 1.0;
}

/// Share of the trips that wait for DRAM: of waves after the first only those of items that read what no wave
/// has read, with the first of them to do so.
[[nodiscard]] inline double waits_for_dram(const ItemDemand& item, const Traffic& traffic, int ahead,
                                           const hw::Gpu& gpu) {
    const double later = (traffic.waves - 1.0) * traffic.fresh_later * traffic.wait_with_first;
    return (1.0 + later) / traffic.waves * first_of_granule(item, ahead, gpu);
}

/// The same as `near_copy_latency` over all waves: some wait for DRAM, and where all CTAs ask for a trip's
/// bytes at the same moment, for all of them. `ahead`: stages that are under way.
[[nodiscard]] inline hw::Cycles copy_latency(const ItemDemand& item, const Traffic& traffic, int ahead,
                                             const hw::Gpu& gpu) {
    const hw::Cycles near = near_copy_latency(gpu);
    if (!traffic.from_dram) return near;
    const hw::Cycles far = gpu.latency.dram + gpu.latency.cp_async_extra;
    const hw::Seconds all = machine::dram_seconds(traffic.dram_read - traffic.dram_row_read,
                                                  traffic.dram_row_read, hw::Bytes{}, gpu);
    const double of_trip = 1.0 / (traffic.waves * std::max(1.0, item.trips));
    const double fresh = waits_for_dram(item, traffic, ahead, gpu);
    // CTAs that wait for lines of their own are seldom at the same trip.
    const double together = 1.0 - traffic.own_share * (1.0 - gpu.l2.merge_private.value());
    const hw::Cycles burst = all * (gpu.clock.boost * gpu.clock.tensor_base) * of_trip * together;
    // Of the burst what comes while the stage is on its way into the SM costs nothing: the larger the stage,
    // the more of it (256x128x128, two stages: 17 % too slow on 120 SMs and 1 % too fast on 12).
    const hw::Cycles taken =
        std::max(item.loop.demand[machine::Server::crossbar_read], item.loop.demand[machine::Server::l1]);
    return near + (far - near) * fresh + burst * (far / (far + taken));
}

/// What the transfer of a stage takes longer with two stages, where all of it comes while wgmma reads the
/// stage before: until the product is done, copies get what its reads leave of shared memory. `before`: from
/// the issue of the copies until they begin to arrive. Source: docs/mechanisms/evidence.md.
[[nodiscard]] inline hw::Cycles hindered_by_reads(const ItemDemand& item, const hw::Cycles& before,
                                                  const hw::Gpu& gpu) {
    const machine::Demand& demand = item.loop.demand;
    const double writes = demand[machine::Server::shared_write].value();
    if (!copies_by_lanes(item) || !(0.0 < writes)) return {};
    // Those of several warpgroups have been counted with the writes.
    constexpr int warpgroup = 4;
    const double counted = item.warps > warpgroup ? writes * gpu.shared.copy_share.value() : 0.0;
    const double reads = demand[machine::Server::shared].value() - counted;
    const double product = std::max(demand[machine::Server::tensor].value(), reads);
    const double transfer =
        std::max(demand[machine::Server::crossbar_read], demand[machine::Server::l1]).value();
    const double free = 1.0 - reads / product;
    const double speed = std::min(1.0, free * transfer / writes);
    const double within = std::max(0.0, product - before.value());
    // Either the product ends first, or the transfer at its lower speed.
    return hw::Cycles(std::min(within * (1.0 - speed), transfer * (1.0 - speed) / std::max(speed, 1e-3)));
}

/// Whether reads by ldmatrix, or products, set the pace of a loop that copies for itself, and not the way on
/// which its copies come.
[[nodiscard]] inline bool paced_by_reads(const ItemDemand& item) {
    if (!copies_by_lanes(item) || reads_by_wgmma(item)) return false;
    const machine::Server busiest = item.loop.demand.busiest();
    return busiest != machine::Server::l1 && busiest != machine::Server::crossbar_read;
}

/// The exponent with which a kernel's time on its SMs, `resident` CTAs on each, and that of the memories
/// combine.
[[nodiscard]] inline double exponent_beside(const ItemDemand& item, std::int64_t resident,
                                            const hw::Gpu& gpu) {
    const double exponent = gpu.overlap.exponent.value();
    if (resident < 2 || !paced_by_reads(item)) return exponent;
    return exponent * std::pow(static_cast<double>(resident), gpu.overlap.residents.value());
}

}  // namespace warptime::model::analytical
