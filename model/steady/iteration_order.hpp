// Order of the events of one iteration: each stands behind those that it waits for within the iteration.
// Source: A. B. Kahn, Topological sorting of large networks, Communications of the ACM 5(11), 1962.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_nodes.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace warptime::model::steady {

/// Edges by the node from which they go: those of node n are order[first[n]] to order[first[n + 1] - 1].
struct EdgesOut {
    std::vector<std::size_t> first;
    std::vector<Place> order;
};

template <class Edges>
[[nodiscard]] EdgesOut edges_out(std::size_t nodes, const Edges& edges) {
    EdgesOut out;
    out.first.assign(nodes + 1, 0);
    for (const auto& edge : edges) {
        ++out.first[static_cast<std::size_t>(edge.from) + 1];
    }
    std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
    out.order.resize(edges.size());
    std::vector<std::size_t> next(out.first.begin(), out.first.end() - 1);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        out.order[next[static_cast<std::size_t>(edges[e].from)]++] = static_cast<Place>(e);
    }
    return out;
}

/// Nodes in an order in which edges of distance 0 go forward. Nodes that such edges tie into a cycle, and
/// nodes behind them, are left out.
template <class Edges>
[[nodiscard]] std::vector<Place> order_within_iteration(std::size_t nodes, const Edges& edges) {
    const EdgesOut out = edges_out(nodes, edges);
    std::vector<std::size_t> waiting(nodes);
    for (const auto& edge : edges) {
        waiting[static_cast<std::size_t>(edge.to)] += edge.distance == 0 ? 1U : 0U;
    }
    std::vector<Place> order;
    order.reserve(nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
        if (waiting[n] == 0) order.push_back(static_cast<Place>(n));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto n = static_cast<std::size_t>(order[i]);
        for (std::size_t o = out.first[n]; o < out.first[n + 1]; ++o) {
            const auto& edge = edges[static_cast<std::size_t>(out.order[o])];
            if (edge.distance == 0 && --waiting[static_cast<std::size_t>(edge.to)] == 0) {
                order.push_back(edge.to);
            }
        }
    }
    return order;
}

}  // namespace warptime::model::steady
