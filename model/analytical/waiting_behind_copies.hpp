// A loop that waits for the copies of earlier trips right behind its own: warps copy by cp.async what they
// multiply in blocks of registers, as a library's fp32 kernels do. Ignores: CTAs of an SM that run into
// DRAM at different trips.
// Source: SASS of the xmma kernels in cuBLASLt 13.1 (LDGSTS.LTC128B behind most of a trip's multiply-adds,
// then DEPBAR and BAR), and their times against K in gemm_fp32 and gemm_fp32_second (fit rows): of four trips
// of 32 bytes a row, whose line the first brings to the L2, one waits for DRAM and three for the L2, each for
// its latency and no more, and a wait that is shorter than what the CTAs of the SM multiply meanwhile costs
// nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/traffic.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// Notes a wait of the main loop, reached at `at`, if it is for asynchronous copies, and whether it stands
/// behind those of the same trip.
template <class S>
void note_wait(const kernel::Kernel& kernel, const kernel::Node& node, const hw::Cycles<S>& at,
               ItemDemand<S>& item) {
    const kernel::Token& token = kernel.tokens[static_cast<std::size_t>(kernel.waits[node.payload].token)];
    if (token.kind != kernel::TokenKind::async_group) return;
    if (!(hw::Cycles<S>{} < item.copy_issue)) {
        item.until_wait = at;
        return;
    }
    item.waits_behind_copies = true;
    item.behind_copies = at - item.copy_issue;
}

/// Whether it is such a loop.
template <class S>
[[nodiscard]] bool multiplies_before_copies(const ItemDemand<S>& item) {
    return item.waits_behind_copies && !item.self_fed && item.loop.flop > 0.0 &&
           !(hw::Cycles<S>{} < item.loop.demand[Server::tma]);
}

/// Least time of a trip by its copies: where they come from the L2 (`near`), where from DRAM (`far`), and the
/// share of the latter. Stages that have been asked for before the loop are `ahead`.
template <class S>
struct CopyWaits {
    hw::Cycles<S> near{}, far{};
    S share = S(0.0);
    int ahead = 1;
};

/// `ahead`: stages to spare, of which the one that is being copied has just been issued.
template <class S>
[[nodiscard]] CopyWaits<S> copy_waits(const ItemDemand<S>& item, const Traffic<S>& traffic, int ahead,
                                      const hw::Gpu<S>& gpu) {
    const int whole = std::max(1, ahead - 1);
    const hw::Cycles<S> taken = item.loop.demand[Server::crossbar_read] - item.behind_copies;
    const hw::Cycles<S> near = gpu.latency.l2_far + taken;
    const S trips(static_cast<double>(whole));
    if (!traffic.from_dram) return {near / trips, near / trips, S(0.0), ahead};
    // All CTAs ask at the same moment for a trip's bytes and for those of the trips that come along. While a
    // burst comes that is longer than the way to DRAM and back, those that were served first go on.
    const S first = first_of_granule(item, whole, gpu);
    const hw::Seconds<S> all =
        dram_seconds(traffic.dram_read - traffic.dram_row_read, traffic.dram_row_read, hw::Bytes<S>{}, gpu);
    const S of_burst = S(1.0) / (first * S(traffic.waves * std::max(1.0, item.trips)));
    const hw::Cycles<S> burst = hw::min(all * gpu.clock.boost * of_burst, gpu.latency.dram);
    const hw::Cycles<S> far = gpu.latency.dram + taken + burst;
    const S fresh((1.0 + (traffic.waves - 1.0) * traffic.fresh_later) / traffic.waves);
    return {near / trips, far / trips, fresh * first, ahead};
}

/// The period of CTAs that take `busy` for a trip together.
template <class S>
[[nodiscard]] hw::Cycles<S> with_waits(const hw::Cycles<S>& busy, const CopyWaits<S>& waits) {
    return hw::max(busy, waits.near) * (S(1.0) - waits.share) + hw::max(busy, waits.far) * waits.share;
}

/// All `trips` of an item: the last ones copy nothing, and what the stages that were filled before the loop
/// have brought along is there.
template <class S>
[[nodiscard]] hw::Cycles<S> all_with_waits(const hw::Cycles<S>& busy, double trips,
                                           const CopyWaits<S>& waits) {
    const double waited = std::max(0.0, trips - static_cast<double>(waits.ahead));
    const S far = hw::max(S(0.0), hw::min(S(waited), S(trips) * waits.share - S(1.0)));
    return busy * S(trips - waited) + hw::max(busy, waits.near) * (S(waited) - far) +
           hw::max(busy, waits.far) * far;
}

}  // namespace warptime::model::analytical
