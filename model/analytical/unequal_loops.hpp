// CTAs whose main loops differ in length by their place in the grid, as of blocks before a diagonal.
// Ignores: roles beside the longest one, and grids so long that their last CTAs matter little.
// Source: model/kernel/README.md (trips beside a mean); list scheduling of such items, uneven_items.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/body_nodes.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/machine/occupancy/work_items.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace warptime::model::analytical {

/// One item a CTA, in the order in which they are handed out; `end` is its trips. Empty where CTAs do not
/// differ, or where a slot has more than 32 of them. `trips`: of a mean item.
[[nodiscard]] inline std::vector<kernel::WorkItem> items_of_unequal_loops(const kernel::Kernel& kernel,
                                                                          double trips, std::int64_t slots) {
    constexpr std::int64_t most_of_slot = 32;
    const std::int64_t count = kernel.schedule.item_count();
    const bool some = std::any_of(kernel.loops.begin(), kernel.loops.end(),
                                  [](const kernel::Loop& loop) { return kernel::by_place(loop.trips); });
    if (!some || kernel.schedule.kind != kernel::ScheduleKind::one_per_cta || !(trips > 0.0) ||
        count > most_of_slot * slots) {
        return {};
    }
    const kernel::Loop* longest = nullptr;
    for (const kernel::Role& role : kernel.roles) {
        const kernel::MainLoop main = kernel::main_loop(kernel, role, kernel::Coordinates{});
        if (main.node >= role.last_node) continue;
        const kernel::Loop& loop = kernel.loops[kernel.nodes[main.node].payload];
        if (kernel::by_place(loop.trips) && (longest == nullptr || longest->trips.mean < loop.trips.mean)) {
            longest = &loop;
        }
    }
    if (longest == nullptr) return {};
    const machine::WorkItems order(kernel);
    std::vector<kernel::WorkItem> items(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        const kernel::Coordinates place = kernel::coordinates_of(order.at(i));
        items[static_cast<std::size_t>(i)].end =
            std::max<std::int64_t>(0, kernel::evaluate(kernel, longest->trips.index, place));
    }
    return items;
}

}  // namespace warptime::model::analytical
