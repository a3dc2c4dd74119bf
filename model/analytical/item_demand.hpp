// Adds up what one work item asks of every server, op by op.
// Ignores: what item.hpp lists.
// Source: model/kernel/README.md, meaning 1-6; property-tested against the reference walk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::analytical {

/// Which warps the walk follows where warps differ, or which item of a list where items differ: `average`
/// gives the demand, the others only the chains.
enum class Followed : std::uint8_t { average, slowest_of_cta, slowest_of_grid, longest_item };

/// Adds to an item that is still empty. `load_latency`: latency of global loads in the present state of the
/// caches. `resident`: CTAs that share an SM. No allocation, but for pipelines inside of the main loop.
void add_item_demand(const kernel::Kernel& kernel, const hw::Gpu& gpu, const hw::Cycles& load_latency,
                     std::int64_t resident, ItemDemand& empty, const WaitsByBuffer& waits = {},
                     Followed warps = Followed::average);

[[nodiscard]] inline ItemDemand item_demand(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                            const hw::Cycles& load_latency, std::int64_t resident = 1,
                                            const WaitsByBuffer& waits = {},
                                            Followed warps = Followed::average) {
    ItemDemand result;
    add_item_demand(kernel, gpu, load_latency, resident, result, waits, warps);
    return result;
}

}  // namespace warptime::model::analytical
