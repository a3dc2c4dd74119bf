// Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/settled_item.hpp"

#include <algorithm>

namespace warptime::model::analytical {

namespace {

/// Shares this near to 1 change no latency by a cycle.
constexpr double nearly_all = 0.999;

bool warps_differ(const kernel::Kernel& kernel) {
    const auto differs = [](const auto& record) {
        return record.slowest.of_cta >= 0.0 || record.slowest.of_grid >= 0.0;
    };
    return std::ranges::any_of(kernel.loops, differs) || std::ranges::any_of(kernel.branches, differs);
}

}  // namespace

bool finds_lines(const ItemDemand& item, const Traffic& traffic) {
    if (item.asynchronous || !traffic.from_dram) return false;
    return std::ranges::any_of(traffic.waits, [](const LoadWaits& waits) {
        return waits.first < nearly_all || waits.fresh < nearly_all;
    });
}

void settle_item(const kernel::Kernel& kernel, const hw::Gpu& gpu, const hw::Cycles& load_latency,
                 std::int64_t resident, const Traffic& traffic, ItemDemand& item) {
    const WaitsByBuffer waits = finds_lines(item, traffic) ? traffic.waits : WaitsByBuffer{};
    if (waits.size() > 0) item = item_demand(kernel, gpu, load_latency, resident, waits);
    if (kernel.schedule.deals_out_tiles()) {
        const ItemDemand longest =
            item_demand(kernel, gpu, load_latency, resident, waits, Followed::longest_item);
        item.longest = std::max(hw::Cycles{}, longest.after.chain - item.after.chain);
    }
    if (item.asynchronous || !warps_differ(kernel)) return;
    const ItemDemand of_cta =
        item_demand(kernel, gpu, load_latency, resident, waits, Followed::slowest_of_cta);
    const ItemDemand of_grid =
        item_demand(kernel, gpu, load_latency, resident, waits, Followed::slowest_of_grid);
    // Warps that meet wait for the slowest of them.
    for (const auto part : {&ItemDemand::before, &ItemDemand::loop, &ItemDemand::after}) {
        machine::Part& mean = item.*part;
        const machine::Part& slowest = of_cta.*part;
        mean.met_idle = std::max(mean.met_idle, slowest.met_busy + slowest.met_idle - mean.met_busy);
    }
    item.before.chain = std::max(item.before.chain, of_cta.before.chain);
    if (item.trips > 0.0) {
        // The slowest warp's trips, in the time that the loop is said to take.
        item.loop.chain = std::max(item.loop.chain, of_cta.loop.chain * (of_cta.trips / item.trips));
    }
    item.after.chain = std::max(item.after.chain, of_cta.after.chain);
    const auto path = [](const ItemDemand& of) {
        return of.before.chain + of.loop.chain * of.trips + of.after.chain;
    };
    item.slowest = path(of_grid);
    item.beyond = std::max(hw::Cycles{}, item.slowest - path(of_cta));
}

}  // namespace warptime::model::analytical
