// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/work.hpp"

#include "hw/error.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/typical_item.hpp"

#include <fmt/format.h>

namespace warptime::model::simulation {

namespace {

double events_of_nodes(const kernel::Kernel& kernel, const kernel::Coordinates& item, std::size_t first,
                       std::size_t last) {
    double events = 0.0;
    for (std::size_t n = first; n < last; n = kernel::next_node(kernel, n)) {
        const kernel::Node& node = kernel.nodes[n];
        if (node.kind == kernel::NodeKind::loop) {
            events += kernel::mean_trips_of(kernel, kernel.loops[node.payload], item) *
                      events_of_nodes(kernel, item, n + 1, node.end);
        } else if (node.kind == kernel::NodeKind::branch) {
            events +=
                kernel.branches[node.payload].warps_taking * events_of_nodes(kernel, item, n + 1, node.end);
        } else {
            events += 1.0;
        }
    }
    return events;
}

}  // namespace

double events_of(const kernel::Kernel& kernel) {
    const kernel::Coordinates item = kernel::typical_item(kernel);
    double of_item = 0.0;
    for (const kernel::Role& role : kernel.roles) {
        const double warps = static_cast<double>(role.warps) * (role.alternate ? 1 : role.instances);
        of_item += warps * events_of_nodes(kernel, item, role.first_node, role.last_node);
    }
    return of_item * static_cast<double>(kernel.schedule.item_count());
}

void require_feasible(const kernel::Kernel& kernel) {
    // A day at some four million events a second.
    constexpr double most = 4e11;
    const double events = events_of(kernel);
    if (events > most) {
        throw Error(fmt::format("kernel '{}' simulation", kernel.name), fmt::format("{:.3g} events", events),
                    fmt::format("at most {:.3g}; the analytical engine has no such limit", most));
    }
}

}  // namespace warptime::model::simulation
