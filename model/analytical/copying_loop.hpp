// The main loop of a single CTA on an SM whose warps copy ahead by cp.async and multiply.
// Ignores: the order in which the compiler places operand loads and products. Also ignored: why wgmma's
// operand reads hinder pipelines of two stages and spare deeper ones.
// With stages to spare, a trip of mma.sync takes its busiest server and the gap between two trips. The gap is
// two barriers, address arithmetic, and operands on their way. Products of wgmma are awaited only after the
// next trip's products are issued, so tensor cores do not pause. Such a trip takes its warps' own
// instructions or its busiest server.
// Source: slopes over K of 150 loops whose operands lie in the L2 (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/machine/dram/dram.hpp"
#include "model/machine/tensor/tensor_core.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace warptime::model::analytical {

/// Whether the warps that multiply also copy, each lane its own bytes.
[[nodiscard]] inline bool copies_by_lanes(const ItemDemand& item) {
    return item.self_fed && !(hw::Cycles{} < item.loop.demand[machine::Server::tma]);
}

/// Whether the tensor cores read the operands of such a loop themselves (wgmma).
[[nodiscard]] inline bool reads_by_wgmma(const ItemDemand& item) {
    return hw::Cycles{} < item.loop.demand[machine::Server::shared_write];
}

/// Least time of a trip by the order of a warp's own instructions. A warp waits for wgmma products in the
/// next trip, behind the issue of that trip's products. So a trip contains neither the products' latency nor
/// the instructions before them. Recorded: 128x256x64 takes 1026 cycles a trip, with 1024 cycles of tensor
/// cores. Warps that compute with the products (attention) wait for them in their own trip.
[[nodiscard]] inline hw::Cycles own_chain(const ItemDemand& item, const hw::Gpu& gpu) {
    if (!copies_by_lanes(item) || !reads_by_wgmma(item) || item.gathers || item.uses_products)
        return item.loop.chain;
    const hw::Cycles around = machine::group_product_latency(gpu) + item.copy_issue;
    return std::max(hw::Cycles{}, item.loop.chain - around);
}

/// Least time of a trip for a single CTA, for any number of stages; 0 for loops of another kind. With wgmma,
/// the warps need pipeline.copying_turn beside their copies: two barriers, addresses, and the issue of
/// products. Each copy of a sub-partition adds pipeline.copy_interval. Copy addresses share few registers,
/// and an earlier copy must have read a register before its reuse. Addresses of an operand across K are a
/// constant apart and take less (pipeline.copy_interval_across). Compiled code has its copies written out one
/// by one (item.copies is 0). Products that the compiler makes wait for
/// one another come before the copies. Recorded: 128x128x64 with eight warps and split K takes 1050 cycles a
/// trip. Such products take 514 of the 1050 cycles.
[[nodiscard]] inline hw::Cycles copying_turn(const ItemDemand& item, const hw::Gpu& gpu) {
    if (!copies_by_lanes(item)) return {};
    const bool wgmma = reads_by_wgmma(item);
    hw::Cycles busiest{};
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        // Operand reads of wgmma delay no instruction of a warp.
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

/// Time from the issue of a stage's copies by lanes until the first bytes arrive from the L2.
[[nodiscard]] inline hw::Cycles near_copy_latency(const hw::Gpu& gpu) {
    return gpu.latency.l2_far + gpu.latency.cp_async_l2;
}

/// Share of the trips that wait for DRAM, in a chain of stages `ahead` trips apart. DRAM gives at least
/// `dram.access_bytes` of a row, or the bytes that the copies ask for. Shorter pieces of the next trips come
/// along with the first piece. Of the `ahead` chains, the chain with the most first pieces sets the pace.
[[nodiscard]] inline double first_of_granule(const ItemDemand& item, int ahead, const hw::Gpu& gpu) {
    double share = 0.0;
    for (const machine::BufferTraffic& buffer : item.buffers) {
        const double bytes = buffer.trip_bytes;
        if (!(bytes > 0.0)) continue;
        const double brought = std::max(gpu.dram.access_bytes.value(), buffer.brought_bytes);
        const int trips = static_cast<int>(brought / bytes);
        share = std::max(share, trips > 1 ? static_cast<double>(std::gcd(ahead, trips)) / trips : 1.0);
    }
    return share > 0.0 ? share : 1.0;
}

/// Share of the trips that wait for DRAM. In later waves, an item waits only if no earlier wave has read its
/// data. Others that ask together with the first such item wait as well (`wait_with_first`).
[[nodiscard]] inline double waits_for_dram(const ItemDemand& item, const Traffic& traffic, int ahead,
                                           const hw::Gpu& gpu) {
    const double later = (traffic.waves - 1.0) * traffic.fresh_later * traffic.wait_with_first;
    return (1.0 + later) / traffic.waves * first_of_granule(item, ahead, gpu);
}

/// Mean of the copies' latency over all waves; equals `near_copy_latency` if all data come from the L2. Some
/// copies wait for DRAM. Where all CTAs ask for a trip's bytes at once, a copy waits for the whole burst.
/// `ahead`: stages that are under way.
[[nodiscard]] inline hw::Cycles copy_latency(const ItemDemand& item, const Traffic& traffic, int ahead,
                                             const hw::Gpu& gpu) {
    const hw::Cycles near = near_copy_latency(gpu);
    if (!traffic.from_dram) return near;
    const hw::Cycles far = gpu.latency.dram + gpu.latency.cp_async_extra;
    const hw::Seconds all = machine::dram_seconds(
        {traffic.dram_read, traffic.dram_row_read, traffic.dram_scattered_read}, {}, gpu);
    const double of_trip = 1.0 / (traffic.waves * std::max(1.0, item.trips));
    const double fresh = waits_for_dram(item, traffic, ahead, gpu);
    // CTAs that wait for lines of their own are seldom at the same trip.
    const double together = 1.0 - traffic.own_share * (1.0 - gpu.l2.merge_private.value());
    const hw::Cycles burst = all * (gpu.clock.boost * gpu.clock.tensor_base) * of_trip * together;
    // The part of a burst that comes while the stage moves into the SM costs nothing. A larger stage hides
    // more of the burst. Without this law, 256x128x128 with two stages was 17 % too slow on 120 SMs. On 12
    // SMs the same kernel was 1 % too fast.
    const hw::Cycles taken =
        std::max(item.loop.demand[machine::Server::crossbar_read], item.loop.demand[machine::Server::l1]);
    return near + (far - near) * fresh + burst * (far / (far + taken));
}

/// Extra transfer time of a stage in a loop of two stages. The whole transfer runs while wgmma reads the
/// stage before. Until the product is done, copies get the bandwidth of shared memory that the reads leave.
/// `before`: time from the issue of the copies until their first bytes arrive. Source:
/// docs/mechanisms/evidence.md.
[[nodiscard]] inline hw::Cycles hindered_by_reads(const ItemDemand& item, const hw::Cycles& before,
                                                  const hw::Gpu& gpu) {
    const machine::Demand& demand = item.loop.demand;
    const double writes = demand[machine::Server::shared_write].value();
    if (!copies_by_lanes(item) || !(0.0 < writes)) return {};
    // Copies beside several warpgroups were charged to this server as well.
    const double counted = item.warps > hw::warps_of_group ? writes * gpu.shared.copy_share.value() : 0.0;
    const double reads = demand[machine::Server::shared].value() - counted;
    const double product = std::max(demand[machine::Server::tensor].value(), reads);
    const double transfer =
        std::max(demand[machine::Server::crossbar_read], demand[machine::Server::l1]).value();
    const double free = 1.0 - reads / product;
    const double speed = std::min(1.0, free * transfer / writes);
    const double within = std::max(0.0, product - before.value());
    // The hindrance ends with the product or with the slowed transfer, whichever comes first.
    return hw::Cycles(std::min(within * (1.0 - speed), transfer * (1.0 - speed) / std::max(speed, 1e-3)));
}

}  // namespace warptime::model::analytical
