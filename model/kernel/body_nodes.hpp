// Walk over the nodes of a role's body at one level: a node's end, a loop's trips, and the first op.
// Ignores: tokens and guards.
// Source: README.md of this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <cstddef>

namespace warptime::model::kernel {

/// Trips of a loop for one work item; the mean where they depend on data.
[[nodiscard]] inline double mean_trips_of(const Kernel& kernel, const Loop& loop, const Coordinates& item) {
    if (loop.trips.expected) {
        return loop.trips.mean;
    }
    return std::max(0.0, static_cast<double>(evaluate(kernel, loop.trips.index, item)));
}

/// Node behind a node and all its children.
[[nodiscard]] inline std::size_t next_node(const Kernel& kernel, std::size_t node) {
    const Node& n = kernel.nodes[node];
    return n.kind == NodeKind::loop || n.kind == NodeKind::branch ? n.end : node + 1;
}

/// Number of the first op among nodes [first, last); without one, number of the first op of all.
[[nodiscard]] inline std::size_t first_op(const Kernel& kernel, std::size_t first, std::size_t last) {
    while (first < last && kernel.nodes[first].kind != NodeKind::op) {
        ++first;
    }
    return first < last ? kernel.nodes[first].payload : 0;
}

struct MainLoop {
    std::size_t node = 0;  ///< node of the loop; the role's last_node if it has none
    double trips = 0.0;
};

/// Top-level loop of a role with the most trips; the last one of equals. A prologue that fills a pipeline may
/// be as long as the loop behind it.
[[nodiscard]] inline MainLoop main_loop(const Kernel& kernel, const Role& role, const Coordinates& item) {
    MainLoop found{role.last_node, 0.0};
    for (std::size_t n = role.first_node; n < role.last_node; n = next_node(kernel, n)) {
        if (kernel.nodes[n].kind != NodeKind::loop) continue;
        const double trips = mean_trips_of(kernel, kernel.loops[kernel.nodes[n].payload], item);
        if (trips >= found.trips && trips > 0.0) found = {n, trips};
    }
    return found;
}

}  // namespace warptime::model::kernel
