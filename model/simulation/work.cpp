// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/work.hpp"

#include "hw/error.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/typical_item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace warptime::model::simulation {

namespace {

double events_of_nodes(const kernel::Kernel& kernel, const kernel::Coordinates& item, std::size_t first,
                       std::size_t last, double most_trips) {
    double events = 0.0;
    for (std::size_t n = first; n < last; n = kernel::next_node(kernel, n)) {
        const kernel::Node& node = kernel.nodes[n];
        if (node.kind == kernel::NodeKind::loop) {
            events += std::min(most_trips, kernel::mean_trips_of(kernel, kernel.loops[node.payload], item)) *
                      events_of_nodes(kernel, item, n + 1, node.end, most_trips);
        } else if (node.kind == kernel::NodeKind::branch) {
            events += kernel.branches[node.payload].warps_taking *
                      events_of_nodes(kernel, item, n + 1, node.end, most_trips);
        } else {
            events += 1.0;
        }
    }
    return events;
}

}  // namespace

double events_of(const kernel::Kernel& kernel, std::int64_t most_trips) {
    const double most =
        most_trips > 0 ? static_cast<double>(most_trips) : std::numeric_limits<double>::infinity();
    const kernel::Coordinates item = kernel::typical_item(kernel);
    double of_item = 0.0;
    for (const kernel::Role& role : kernel.roles) {
        const double warps = static_cast<double>(role.warps) * (role.alternate ? 1 : role.instances);
        of_item += warps * events_of_nodes(kernel, item, role.first_node, role.last_node, most);
    }
    return of_item * static_cast<double>(kernel.schedule.item_count());
}

void require_feasible(const kernel::Kernel& kernel, double events) {
    // A day at some four million events a second.
    constexpr double most = 4e11;
    if (events > most) {
        throw Error(fmt::format("kernel '{}' simulation", kernel.name), fmt::format("{:.3g} events", events),
                    fmt::format("at most {:.3g}; the analytical engine has no such limit", most));
    }
}

}  // namespace warptime::model::simulation
