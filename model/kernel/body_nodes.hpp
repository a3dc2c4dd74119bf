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

/// True if the index says how many trips the CTA of a tile takes, beside the mean of all.
[[nodiscard]] inline bool by_place(const Trips& trips) {
    return trips.expected && !trips.index.is_constant();
}

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

/// Instructions of nodes [first, last), with loops as often as they go round on average. Branches count
/// whole.
[[nodiscard]] inline double instructions_of(const Kernel& kernel, std::size_t first, std::size_t last,
                                            const Coordinates& item) {
    double sum = 0.0;
    for (std::size_t n = first; n < last; n = next_node(kernel, n)) {
        const Node& node = kernel.nodes[n];
        if (node.kind == NodeKind::op) {
            sum += static_cast<double>(kernel.ops[node.payload].count);
        } else if (node.kind == NodeKind::loop) {
            sum += mean_trips_of(kernel, kernel.loops[node.payload], item) *
                   instructions_of(kernel, n + 1, node.end, item);
        } else if (node.kind == NodeKind::branch) {
            sum += instructions_of(kernel, n + 1, node.end, item);
        }
    }
    return sum;
}

/// Top-level loop of a role with the most trips, the last one of equals: a prologue that fills a pipeline may
/// be as long as the loop behind it. Of two loops whose trips overlap, one that executes less than an eighth
/// of the other's instructions is not the main one: it sets or sums up what the other works on.
[[nodiscard]] inline MainLoop main_loop(const Kernel& kernel, const Role& role, const Coordinates& item) {
    constexpr double far_more = 8.0;
    const auto loop_at = [&kernel](std::size_t n) -> const Loop& {
        return kernel.loops[kernel.nodes[n].payload];
    };
    const auto executed = [&](const MainLoop& of) {
        return of.trips * instructions_of(kernel, of.node + 1, kernel.nodes[of.node].end, item);
    };
    MainLoop found{role.last_node, 0.0};
    for (std::size_t n = role.first_node; n < role.last_node; n = next_node(kernel, n)) {
        if (kernel.nodes[n].kind != NodeKind::loop) continue;
        const MainLoop own{n, mean_trips_of(kernel, loop_at(n), item)};
        if (!(own.trips > 0.0)) continue;
        bool instead = own.trips >= found.trips;
        if (found.node < role.last_node && loop_at(found.node).overlap && loop_at(n).overlap) {
            const double before = executed(found), after = executed(own);
            instead = instead ? far_more * after >= before : after > far_more * before;
        }
        if (instead) found = own;
    }
    return found;
}

}  // namespace warptime::model::kernel
