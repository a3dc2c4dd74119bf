// Events of one CTA's main loops and edges between them, as plain data of fixed size.
// Source: model/kernel/README.md, Meaning 2 to 4.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::steady {

inline constexpr int max_graph_nodes = 96;
inline constexpr int max_graph_edges = 384;
inline constexpr int max_graph_roles = 8;

/// `payload` is the id of the op, wait or signal. `copy` counts loop iterations within one graph iteration.
struct GraphNode {
    kernel::NodeKind kind = kernel::NodeKind::op;
    kernel::Id payload = kernel::no_id;
    std::int16_t role = 0;
    std::int16_t instance = 0;
    std::int16_t copy = 0;
};

enum class EdgeCause : std::uint8_t { order, dep, token };

/// Weight = scale * (latency or issue cycles of `op`); no op: 0. `distance` counts graph iterations from
/// `from` to `to`, never negative.
struct TopologyEdge {
    std::int16_t from = 0;
    std::int16_t to = 0;
    std::int16_t distance = 0;
    EdgeCause cause = EdgeCause::order;
    bool latency = false;
    kernel::Id op = kernel::no_id;
    kernel::Id token = kernel::no_id;
    double scale = 1.0;
};

/// Loop of one role in the graph.
struct GraphLoop {
    std::int16_t role = 0;
    std::uint16_t node = 0;   ///< node of the loop, in Kernel::nodes
    std::int16_t copies = 1;  ///< iterations of this loop in one iteration of the graph
    std::int64_t trips = 0;
};

struct EventTopology {
    std::array<GraphNode, static_cast<std::size_t>(max_graph_nodes)> nodes;
    std::array<TopologyEdge, static_cast<std::size_t>(max_graph_edges)> edges;
    std::array<GraphLoop, static_cast<std::size_t>(max_graph_roles)> loops;
    int node_count = 0;
    int edge_count = 0;
    int loop_count = 0;
};

}  // namespace warptime::model::steady
