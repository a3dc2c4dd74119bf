// Event graph of one CTA's main loops with weights: events that a warp waits for, and cycles of each wait.
// Ignores: servers shared with other warps and CTAs, and branches, as event_topology does.
// Source: README.md, Meaning 2 to 4 and 7.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_topology.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace warptime::model::steady {

/// Weights in cycles, not negative.
struct EventGraph {
    struct Edge {
        int from = 0;
        int to = 0;
        double weight = 0.0;
        int distance = 0;
    };
    std::array<Edge, static_cast<std::size_t>(max_graph_edges)> edges;
    std::array<double, static_cast<std::size_t>(max_graph_nodes)>
        completion;  ///< time from start to end of a node
    int node_count = 0;
    int edge_count = 0;

    void add_edge(int from, int to, double weight, int distance) {
        edges[static_cast<std::size_t>(edge_count++)] = {from, to, weight, distance};
    }
};

/// Puts times on a topology, in cycles by op id. `issue`: from the op's first issue until its warp can issue
/// the next op. `latency`: from the op's first issue until its completion, count and chain included.
void weigh(const EventTopology& topology, std::span<const double> issue, std::span<const double> latency,
           EventGraph& graph);

/// Builds topology and weights in one call.
void build_event_graph(const kernel::Kernel& kernel, const kernel::WorkItem& item,
                       std::span<const double> issue, std::span<const double> latency,
                       EventTopology& topology, EventGraph& graph);

/// Words for the events along a path or cycle: "producer:wait empty -> producer:op 0 ... (1 iteration)".
[[nodiscard]] std::string describe(const kernel::Kernel& kernel, const EventTopology& topology,
                                   std::span<const std::int16_t> edges);

}  // namespace warptime::model::steady
