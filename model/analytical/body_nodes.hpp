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

}  // namespace warptime::model::analytical
