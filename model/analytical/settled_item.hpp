// A work item once its traffic is known: which of its loads wait for DRAM, and how long its slowest warps
// take.
// Ignores: loops that copy ahead (stage_waits.hpp has their waits).
// Source: docs/mechanisms/loops-and-chains.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/item_demand.hpp"

namespace warptime::model::analytical {

/// Whether some plain loads of the item find in the L2 what other CTAs, or the same one, brought there.
[[nodiscard]] bool finds_lines(const ItemDemand& item, const Traffic& traffic);

/// Works out the item anew where its loads find lines, and then the chains of its slowest warps: a CTA ends
/// with the slowest of its warps, and a grid not before the slowest of all. `load_latency` and `resident` as
/// for add_item_demand.
void settle_item(const kernel::Kernel& kernel, const hw::Gpu& gpu, const hw::Cycles& load_latency,
                 std::int64_t resident, const Traffic& traffic, ItemDemand& item);

}  // namespace warptime::model::analytical
