// Time of an item on the busiest server of its SM when neighbours are at other places of their code.
// CTAs are in that state after the first wave.
// Ignores: how far apart the CTAs are. Warps that go through straight code in step are served by one fetch.
// Warps apart take the fetches in turn, while loops stay in the nearest cache.
// Source: key code.apart_interval; kernels with short main loops (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// Busiest server of the whole item, with main loop and straight code.
[[nodiscard]] inline hw::Cycles busiest_of_item(const ItemDemand& item, const hw::Gpu& gpu) {
    hw::Cycles busiest{};
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        const double slots =
            static_cast<machine::Server>(i) == machine::Server::issue ? gpu.code.apart_interval.value() : 1.0;
        const hw::Cycles straight = (item.before.demand.cycles[i] + item.after.demand.cycles[i]) * slots;
        busiest = std::max(busiest, straight + item.loop.demand.cycles[i] * item.trips);
    }
    return busiest;
}

}  // namespace warptime::model::analytical
