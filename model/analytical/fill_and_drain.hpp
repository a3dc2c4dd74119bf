// What no transfer overlaps: a kernel waits a latency before its first bytes arrive, and what its last item
// does with the last of them begins when all have come. Between the two, the SMs and everybody's transfer
// through L2 and DRAM overlap. Ignores: waves of several CTAs an SM that stay in step, and items that begin
// later because the launch hands them out one after another. Source: N requests that are
// sent together through a server of rate mu behind a latency L take L + N / mu; recorded kernels whose CTAs
// load once (docs/mechanisms/evidence.md). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/machine/dram/loaded_latency.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::analytical {

/// What copies of `bytes` from DRAM wait for the last of their pieces beyond a single one; nothing where
/// `load`, the latency, is that of the L2.
[[nodiscard]] inline hw::Cycles last_piece(double bytes, const hw::Cycles& load, const hw::Gpu& gpu) {
    if (!(gpu.latency.l2_far < load)) return {};
    const double pieces = bytes / gpu.dram.access_bytes.value();
    return gpu.dram.queue * machine::beyond_the_mean_of_many(pieces);
}

/// What a stage that is copied from DRAM waits for the last of its pieces beyond a single one; nothing where
/// `load`, the latency, is that of the L2.
[[nodiscard]] inline hw::Cycles wait_for_stage(const ItemDemand& item, const hw::Cycles& load,
                                               const hw::Gpu& gpu) {
    return last_piece(item.loop.received_bytes, load, gpu);
}

/// SM cycles before the first bytes arrive and after the last have, `fill` and `load` being the latencies of
/// the first stage and of a plain load.
[[nodiscard]] inline hw::Cycles fill_and_drain(const ItemDemand& item, const hw::Cycles& fill,
                                               const hw::Cycles& load) {
    const hw::Cycles around = item.before.chain + item.after.chain;
    if (item.asynchronous) {
        // What the first stage takes of the SM's port is a part of the transfer.
        const machine::Demand& stage = item.loop.demand;
        const hw::Cycles taken = std::max(stage[machine::Server::l1], stage[machine::Server::tma]);
        return fill - std::max(stage[machine::Server::crossbar_read], taken) + around;
    }
    // A kernel that reads nothing waits for no first bytes; its stores are under way while they are sent, and
    // whoever waits for them begins when the last has been.
    const bool reads = item.total([](const machine::Part& p) { return p.received_bytes; }) > 0.0;
    if (!reads) return item.after.chain;
    if (item.trips > 1.0) return item.loop.load_rounds > 0.0 ? around + load : around;
    // Of a loop that only stores and waits for it, the way through the SM's port is a part of the transfer.
    const bool stores = !(item.loop.received_bytes > 0.0);
    const hw::Cycles sent = stores ? item.loop.demand[machine::Server::crossbar_write] : hw::Cycles{};
    return around + (item.loop.chain - std::min(item.loop.chain, sent)) * item.trips;
}

/// The same of waves of one CTA an SM, each of which fills and drains anew, and what their slots stay empty
/// in between (microbench_waves, one CTA an SM that reads 128 or 256 kB).
[[nodiscard]] inline hw::Cycles apart_of_waves(const hw::Cycles& apart, const hw::Cycles& turnaround,
                                               double waves) {
    const double whole = std::max(1.0, std::ceil(waves));
    return apart * whole + turnaround * (whole - 1.0);
}

}  // namespace warptime::model::analytical
