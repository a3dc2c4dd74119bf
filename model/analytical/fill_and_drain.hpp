// Time at the start and end of a kernel that no transfer overlaps.
// A kernel waits a latency before its first bytes arrive. Its last item works on the last bytes only after
// all bytes have come. Between the two, the SMs overlap with all transfers through L2 and DRAM.
// Ignores: waves of several CTAs on an SM that stay in step. Also ignored: items that begin later because the
// launch hands them out one after another.
// Source: N requests sent together through a server of rate mu behind a latency L take L + N / mu; recorded
// kernels whose CTAs load once (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/machine/dram/loaded_latency.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::analytical {

/// Extra wait of copies of `bytes` from DRAM for their last piece, beyond the wait for a single piece.
/// Nothing where `load`, the latency, is that of the L2.
[[nodiscard]] inline hw::Cycles last_piece(double bytes, const hw::Cycles& load, const hw::Gpu& gpu) {
    if (!(gpu.latency.l2_far < load)) return {};
    const double pieces = bytes / gpu.dram.access_bytes.value();
    return gpu.dram.queue * machine::beyond_the_mean_of_many(pieces);
}

/// Extra wait of a stage copied from DRAM for its last piece, beyond the wait for a single piece. Nothing
/// where `load`, the latency, is that of the L2.
[[nodiscard]] inline hw::Cycles wait_for_stage(const ItemDemand& item, const hw::Cycles& load,
                                               const hw::Gpu& gpu) {
    return last_piece(item.loop.received_bytes, load, gpu);
}

/// SM cycles before the first bytes arrive and after the last bytes have arrived. `fill`: latency of the
/// first stage. `load`: latency of a plain load.
[[nodiscard]] inline hw::Cycles fill_and_drain(const ItemDemand& item, const hw::Cycles& fill,
                                               const hw::Cycles& load) {
    const hw::Cycles around = item.before.chain + item.after.chain;
    if (item.asynchronous) {
        // The first stage's time at the SM's port is a part of the transfer.
        const machine::Demand& stage = item.loop.demand;
        const hw::Cycles taken = std::max(stage[machine::Server::l1], stage[machine::Server::tma]);
        return fill - std::max(stage[machine::Server::crossbar_read], taken) + around;
    }
    // A kernel that reads nothing waits for no first bytes. Its stores travel while further stores are sent.
    // A wait for stores begins when the last store has been sent.
    const bool reads = item.total([](const machine::Part& p) { return p.received_bytes; }) > 0.0;
    if (!reads) return item.after.chain;
    if (item.trips > 1.0) return item.loop.load_rounds > 0.0 ? around + load : around;
    // In a loop that only stores and waits, the time at the SM's port is a part of the transfer.
    const bool stores = !(item.loop.received_bytes > 0.0);
    const hw::Cycles sent = stores ? item.loop.demand[machine::Server::crossbar_write] : hw::Cycles{};
    return around + (item.loop.chain - std::min(item.loop.chain, sent)) * item.trips;
}

/// The same for waves of one CTA on an SM. Each wave fills and drains anew, and slots stay empty between
/// waves. Source: microbench_waves, one CTA an SM that reads 128 or 256 kB.
[[nodiscard]] inline hw::Cycles apart_of_waves(const hw::Cycles& apart, const hw::Cycles& turnaround,
                                               double waves) {
    const double whole = std::max(1.0, std::ceil(waves));
    return apart * whole + turnaround * (whole - 1.0);
}

}  // namespace warptime::model::analytical
