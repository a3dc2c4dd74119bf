// The event graph of one CTA's main loops with numbers on it: what a warp waits for, and how many cycles.
// Ignores: what event_topology ignores. Source: README.md, Meaning 2 to 4 and 7.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/event_topology.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace warptime::model::kernel {

/// S is double or hw::Dual. Weights in cycles, not negative.
template <class S>
struct EventGraph {
    struct Edge {
        int from = 0;
        int to = 0;
        S weight{};
        int distance = 0;
    };
    std::array<Edge, static_cast<std::size_t>(max_graph_edges)> edges;
    std::array<S, static_cast<std::size_t>(max_graph_nodes)> completion;  ///< from start to end of a node
    int node_count = 0;
    int edge_count = 0;

    void add_edge(int from, int to, const S& weight, int distance) {
        edges[static_cast<std::size_t>(edge_count++)] = {from, to, weight, distance};
    }
};

/// Puts times on a topology. By op id, in cycles: `issue` from the first issue of the op until its warp can
/// issue the next op, `latency` from its first issue until the op is complete (count and chain included).
template <class S>
void weigh(const EventTopology& topology, std::span<const S> issue, std::span<const S> latency,
           EventGraph<S>& graph) {
    graph.node_count = topology.node_count;
    graph.edge_count = 0;
    for (int n = 0; n < topology.node_count; ++n) {
        const auto i = static_cast<std::size_t>(n);
        const GraphNode& node = topology.nodes[i];
        graph.completion[i] =
            node.kind == NodeKind::op ? latency[static_cast<std::size_t>(node.payload)] : S{};
    }
    for (int e = 0; e < topology.edge_count; ++e) {
        const TopologyEdge& edge = topology.edges[static_cast<std::size_t>(e)];
        S weight{};
        if (edge.op != no_id) {
            const auto op = static_cast<std::size_t>(edge.op);
            weight = edge.latency ? latency[op] : issue[op];
            if (edge.scale != 1.0) {
                weight = weight * edge.scale;
            }
        }
        graph.add_edge(edge.from, edge.to, weight, edge.distance);
    }
}

/// Topology and weights in one call.
template <class S>
void build_event_graph(const Kernel& kernel, const WorkItem& item, std::span<const S> issue,
                       std::span<const S> latency, EventTopology& topology, EventGraph<S>& graph) {
    build_topology(kernel, item, topology);
    weigh(topology, issue, latency, graph);
}

/// The events along a path or cycle, one after another: "producer:wait empty -> producer:op 0 ... (1
/// iteration)".
[[nodiscard]] std::string describe(const Kernel& kernel, const EventTopology& topology,
                                   std::span<const std::int16_t> edges);

}  // namespace warptime::model::kernel
