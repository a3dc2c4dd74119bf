// What an item takes of the busiest server of its SM where its neighbours are at other places of their code,
// as they are after the first wave. Ignores: how far apart they are.
// Source: Triton kernels with short K (triton_bf16, 4096 x 4096 x 256, fit rows; key code.apart_interval):
// what CTAs take beyond their main loops is 1.6 to 2.0 issue slots for each instruction of straight code,
// whatever the tile. Warps that go through it in step are served by one fetch; apart, they take the fetches
// in turn, while loops stay in the nearest cache (microbench_straight_line: 1.2 to 2.5 cycles an instruction
// beyond it). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/item_demand.hpp"

namespace warptime::model::analytical {

/// Of the whole item, main loop and straight code.
template <class S>
[[nodiscard]] hw::Cycles<S> busiest_of_item(const ItemDemand<S>& item, const hw::Gpu<S>& gpu) {
    hw::Cycles<S> busiest{};
    for (std::size_t i = 0; i < server_count; ++i) {
        const S slots = static_cast<Server>(i) == Server::issue ? gpu.code.apart_interval.value() : S(1.0);
        const hw::Cycles<S> straight = (item.before.demand.cycles[i] + item.after.demand.cycles[i]) * slots;
        busiest = hw::max(busiest, straight + item.loop.demand.cycles[i] * S(item.trips));
    }
    return busiest;
}

}  // namespace warptime::model::analytical
