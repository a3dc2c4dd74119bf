// What no transfer overlaps: a kernel waits a latency before its first bytes arrive, and what its last item
// does with the last of them begins when all have come. Between the two, the SMs and everybody's transfer
// through L2 and DRAM overlap. Ignores: waves of several CTAs an SM that stay in step, and items that begin
// later because the launch hands them out one after another. Source: N requests that are
// sent together through a server of rate mu behind a latency L take L + N / mu; microbench_cold_load, where
// every CTA loads once, and PyTorch's additions of 64 kB to 8 MB. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/loaded_latency.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::analytical {

/// What copies of `bytes` from DRAM wait for the last of their pieces beyond a single one; nothing where
/// `load`, the latency, is that of the L2.
template <class S>
[[nodiscard]] hw::Cycles<S> last_piece(double bytes, const hw::Cycles<S>& load, const hw::Gpu<S>& gpu) {
    if (!(gpu.latency.l2_far < load)) return {};
    const double pieces = bytes / hw::value_of(gpu.dram.access_bytes);
    return gpu.dram.queue * S(beyond_the_mean_of_many(pieces));
}

/// What a stage that is copied from DRAM waits for the last of its pieces beyond a single one; nothing where
/// `load`, the latency, is that of the L2.
template <class S>
[[nodiscard]] hw::Cycles<S> wait_for_stage(const ItemDemand<S>& item, const hw::Cycles<S>& load,
                                           const hw::Gpu<S>& gpu) {
    return last_piece(item.loop.received_bytes, load, gpu);
}

/// SM cycles before the first bytes arrive and after the last have, `fill` and `load` being the latencies of
/// the first stage and of a plain load.
template <class S>
[[nodiscard]] hw::Cycles<S> fill_and_drain(const ItemDemand<S>& item, const hw::Cycles<S>& fill,
                                           const hw::Cycles<S>& load) {
    const hw::Cycles<S> around = item.before.chain + item.after.chain;
    if (item.asynchronous) {
        // What the first stage takes of the SM's port is a part of the transfer.
        const Demand<S>& stage = item.loop.demand;
        const hw::Cycles<S> taken = hw::max(stage[Server::l1], stage[Server::tma]);
        return fill - hw::max(stage[Server::crossbar_read], taken) + around;
    }
    // A kernel that reads nothing waits for no first bytes; its stores are under way while they are sent, and
    // whoever waits for them begins when the last has been.
    const bool reads = item.total([](const Part<S>& p) { return p.received_bytes; }) > 0.0;
    if (!reads) return item.after.chain;
    if (item.trips > 1.0) return item.loop.load_rounds > 0.0 ? around + load : around;
    // Of a loop that only stores and waits for it, the way through the SM's port is a part of the transfer.
    const bool stores = !(item.loop.received_bytes > 0.0);
    const hw::Cycles<S> sent = stores ? item.loop.demand[Server::crossbar_write] : hw::Cycles<S>{};
    return around + (item.loop.chain - hw::min(item.loop.chain, sent)) * S(item.trips);
}

/// The same of waves of one CTA an SM, each of which fills and drains anew, and what their slots stay empty
/// in between (microbench_waves, one CTA an SM that reads 128 or 256 kB).
template <class S>
[[nodiscard]] hw::Cycles<S> apart_of_waves(const hw::Cycles<S>& apart, const hw::Cycles<S>& turnaround,
                                           double waves) {
    const double whole = std::max(1.0, std::ceil(waves));
    return apart * S(whole) + turnaround * S(whole - 1.0);
}

}  // namespace warptime::model::analytical
