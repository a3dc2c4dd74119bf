// Weights of an event graph, and words for a path through it. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/event_graph.hpp"

#include <fmt/format.h>

namespace warptime::model::steady {

void weigh(const EventTopology& topology, std::span<const double> issue, std::span<const double> latency,
           EventGraph& graph) {
    graph.edges.clear();
    graph.completion.clear();
    for (const GraphNode& node : topology.nodes) {
        graph.completion.push_back(
            node.kind == kernel::NodeKind::op ? latency[static_cast<std::size_t>(node.payload)] : 0.0);
    }
    for (const TopologyEdge& edge : topology.edges) {
        double weight = 0.0;
        if (edge.op != kernel::no_id) {
            const auto op = static_cast<std::size_t>(edge.op);
            weight = edge.latency ? latency[op] : issue[op];
            if (edge.scale != 1.0) {
                weight = weight * edge.scale;
            }
        }
        graph.add_edge(edge.from, edge.to, weight, edge.distance);
    }
}

void build_event_graph(const kernel::Kernel& kernel, const kernel::WorkItem& item,
                       std::span<const double> issue, std::span<const double> latency,
                       EventTopology& topology, EventGraph& graph) {
    build_topology(kernel, item, topology);
    weigh(topology, issue, latency, graph);
}

std::string describe(const kernel::Kernel& kernel, const EventTopology& topology,
                     std::span<const Place> edges) {
    std::string words;
    for (const Place e : edges) {
        const TopologyEdge& edge = topology.edges[static_cast<std::size_t>(e)];
        if (words.empty()) {
            words = describe(kernel, topology.nodes[static_cast<std::size_t>(edge.from)]);
        }
        words += fmt::format(" -> {}", describe(kernel, topology.nodes[static_cast<std::size_t>(edge.to)]));
        if (edge.distance > 0) {
            words += fmt::format(" ({} later)", edge.distance);
        }
    }
    return words;
}

}  // namespace warptime::model::steady
