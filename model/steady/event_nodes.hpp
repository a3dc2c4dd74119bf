// Events of one CTA's main loops and edges between them, as plain data.
// Source: model/kernel/README.md, Meaning 2 to 4.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::steady {

/// Place of an event or an edge in its graph.
using Place = std::int32_t;

/// `payload` is the id of the op, wait or signal. `copy` counts loop iterations within one graph iteration. A
/// node of kind `mark` is no event of a warp: it stands for the completion of all ops before a signal, or of
/// all groups up to one, and `payload` is the token.
struct GraphNode {
    kernel::NodeKind kind = kernel::NodeKind::op;
    kernel::Id payload = kernel::no_id;
    std::int32_t role = 0;
    std::int32_t instance = 0;
    std::int32_t copy = 0;
};

enum class EdgeCause : std::uint8_t { order, dep, token };

/// Weight = scale * (latency or issue cycles of `op`); no op: 0. `distance` counts graph iterations from
/// `from` to `to`, never negative.
struct TopologyEdge {
    Place from = 0;
    Place to = 0;
    std::int32_t distance = 0;
    EdgeCause cause = EdgeCause::order;
    bool latency = false;
    kernel::Id op = kernel::no_id;
    kernel::Id token = kernel::no_id;
    double scale = 1.0;
};

/// Loop of one role in the graph.
struct GraphLoop {
    std::int32_t role = 0;
    std::uint32_t node = 0;   ///< node of the loop, in Kernel::nodes
    std::int32_t copies = 1;  ///< iterations of this loop in one iteration of the graph
    std::int64_t trips = 0;
};

struct EventTopology {
    std::vector<GraphNode> nodes;
    std::vector<TopologyEdge> edges;
    std::vector<GraphLoop> loops;
};

}  // namespace warptime::model::steady
