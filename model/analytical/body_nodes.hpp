// Walking the nodes of a role's body at one level: where a node ends, how often a loop runs, which op is its
// first. Ignores: nothing. Source: KERNEL, Node. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <cstddef>

namespace warptime::model::analytical {

/// Trips of a loop for one work item; the mean where they depend on data.
[[nodiscard]] inline double trips_of(const kernel::Kernel& kernel, const kernel::Loop& loop,
                                     const kernel::Coordinates& item) {
    if (loop.trips.expected) {
        return loop.trips.mean;
    }
    return std::max(0.0, static_cast<double>(kernel::evaluate(kernel, loop.trips.index, item)));
}

/// The node behind a node and all that it owns.
[[nodiscard]] inline std::size_t next_node(const kernel::Kernel& kernel, std::size_t node) {
    const kernel::Node& n = kernel.nodes[node];
    return n.kind == kernel::NodeKind::loop || n.kind == kernel::NodeKind::branch ? n.end : node + 1;
}

/// Number of the first op among nodes [first, last); that of the first op of all where there is none.
[[nodiscard]] inline std::size_t first_op(const kernel::Kernel& kernel, std::size_t first, std::size_t last) {
    while (first < last && kernel.nodes[first].kind != kernel::NodeKind::op) {
        ++first;
    }
    return first < last ? kernel.nodes[first].payload : 0;
}

struct MainLoop {
    std::size_t node = 0;  ///< of the loop; the role's last_node if it has none
    double trips = 0.0;
};

/// The top-level loop of a role with the most trips; of equal ones the last, since a prologue that fills a
/// pipeline may be as long as what it fills it for.
[[nodiscard]] inline MainLoop main_loop(const kernel::Kernel& kernel, const kernel::Role& role,
                                        const kernel::Coordinates& item) {
    MainLoop found{role.last_node, 0.0};
    for (std::size_t n = role.first_node; n < role.last_node; n = next_node(kernel, n)) {
        if (kernel.nodes[n].kind != kernel::NodeKind::loop) continue;
        const double trips = trips_of(kernel, kernel.loops[kernel.nodes[n].payload], item);
        if (trips >= found.trips && trips > 0.0) found = {n, trips};
    }
    return found;
}

}  // namespace warptime::model::analytical
