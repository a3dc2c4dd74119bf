// Event graph of one CTA's main loops with weights: events that a warp waits for, and cycles of each wait.
// Ignores: servers shared with other warps and CTAs, and branches, as event_topology does.
// Source: README.md, Meaning 2 to 4 and 7.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_topology.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warptime::model::steady {

/// Weights in cycles, not negative.
struct EventGraph {
    struct Edge {
        Place from = 0;
        Place to = 0;
        double weight = 0.0;
        std::int32_t distance = 0;
    };
    std::vector<Edge> edges;
    std::vector<double> completion;  ///< by node: time from its start to its end

    [[nodiscard]] std::size_t node_count() const { return completion.size(); }
    void add_edge(Place from, Place to, double weight, std::int32_t distance) {
        edges.push_back({from, to, weight, distance});
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
                                   std::span<const Place> edges);

}  // namespace warptime::model::steady
