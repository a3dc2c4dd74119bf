// A loop that waits for the copies of earlier trips right behind its own copies.
// Warps copy by cp.async what they multiply in blocks of registers. The first of four trips of 32 bytes a row
// brings the whole line to the L2. So one trip waits for DRAM and three wait for the L2, each for its
// latency. A wait shorter than the CTAs' arithmetic costs nothing.
// Ignores: CTAs of an SM that run into DRAM at different trips.
// Source: machine code of such loops, and their times against K (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/item.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/machine/dram/dram.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// Notes a wait of the main loop for asynchronous copies, reached at `at`. Records whether the wait stands
/// before or behind the copies of its own trip.
inline void note_wait(const kernel::Kernel& kernel, const kernel::Node& node, const hw::Cycles& at,
                      ItemDemand& item) {
    const kernel::Token& token = kernel.tokens[static_cast<std::size_t>(kernel.waits[node.payload].token)];
    if (token.kind != kernel::TokenKind::async_group) return;
    if (!(hw::Cycles{} < item.copy_issue)) {
        item.until_wait = at;
        return;
    }
    item.waits_behind_copies = true;
    item.behind_copies = at - item.copy_issue;
}

/// Whether the item has a loop that waits behind its own copies.
[[nodiscard]] inline bool multiplies_before_copies(const ItemDemand& item) {
    return item.waits_behind_copies && !item.self_fed && item.loop.flop > 0.0 &&
           !(hw::Cycles{} < item.loop.demand[machine::Server::tma]);
}

/// Least time of a trip by its copies: `near` from the L2, `far` from DRAM, and the `share` of trips from
/// DRAM. `ahead`: stages that have been asked for before the loop.
struct CopyWaits {
    hw::Cycles near{}, far{};
    double share = 0.0;
    int ahead = 1;
};

/// `ahead`: stages to spare, including the stage whose copies have just been issued.
[[nodiscard]] inline CopyWaits copy_waits(const ItemDemand& item, const Traffic& traffic, int ahead,
                                          const hw::Gpu& gpu) {
    const int whole = std::max(1, ahead - 1);
    const hw::Cycles taken = item.loop.demand[machine::Server::crossbar_read] - item.behind_copies;
    const hw::Cycles near = gpu.latency.l2_far + taken;
    const double trips = static_cast<double>(whole);
    if (!traffic.from_dram) return {near / trips, near / trips, 0.0, ahead};
    // All CTAs ask at the same moment for a trip's bytes and for those of the trips that come along. A burst
    // may last longer than a round trip to DRAM. CTAs that were served first then go on during the burst.
    const double first = first_of_granule(item, whole, gpu);
    const hw::Seconds all = machine::dram_seconds(
        {traffic.dram_read, traffic.dram_row_read, traffic.dram_scattered_read}, {}, gpu);
    const double of_burst = 1.0 / (first * (traffic.waves * std::max(1.0, item.trips)));
    const hw::Cycles burst = std::min(all * gpu.clock.boost * of_burst, gpu.latency.dram);
    const hw::Cycles far = gpu.latency.dram + taken + burst;
    const double fresh = (1.0 + (traffic.waves - 1.0) * traffic.fresh_later) / traffic.waves;
    return {near / trips, far / trips, fresh * first, ahead};
}

/// Period of CTAs that together take `busy` for a trip.
[[nodiscard]] inline hw::Cycles with_waits(const hw::Cycles& busy, const CopyWaits& waits) {
    return std::max(busy, waits.near) * (1.0 - waits.share) + std::max(busy, waits.far) * waits.share;
}

/// Time of all `trips` of an item. The last trips copy nothing. Lines that the stages before the loop have
/// brought along are already there.
[[nodiscard]] inline hw::Cycles all_with_waits(const hw::Cycles& busy, double trips, const CopyWaits& waits) {
    const double waited = std::max(0.0, trips - static_cast<double>(waits.ahead));
    const double far = std::max(0.0, std::min(waited, trips * waits.share - 1.0));
    return busy * (trips - waited) + std::max(busy, waits.near) * (waited - far) +
           std::max(busy, waits.far) * far;
}

}  // namespace warptime::model::analytical
