// The events of one CTA's main loops and what each has to wait for, without numbers.
// Nodes are ops, waits and signals of one iteration; edges are program order, deps and tokens, each with the
// number of iterations between its ends. Fixed arrays: building does not allocate.
// Ignores: servers shared with other warps and CTAs (the engines add them), branches (taken), iterations at
// the ends of a loop. Source: README.md, Meaning 2 to 4 and 7; the phase rules of walk.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace warptime::model::kernel {

inline constexpr int max_graph_nodes = 96;
inline constexpr int max_graph_edges = 384;
inline constexpr int max_graph_roles = 8;

/// `payload` is the id of the op, wait or signal. `copy` counts loop iterations within one graph iteration.
struct GraphNode {
    NodeKind kind = NodeKind::op;
    Id payload = no_id;
    std::int16_t role = 0;
    std::int16_t instance = 0;
    std::int16_t copy = 0;
};

enum class EdgeCause : std::uint8_t { order, dep, token };

/// weight = scale * (latency or issue cycles of `op`); no op: 0. `distance` graph iterations from `from` to
/// `to`, never negative.
struct TopologyEdge {
    std::int16_t from = 0;
    std::int16_t to = 0;
    std::int16_t distance = 0;
    EdgeCause cause = EdgeCause::order;
    bool latency = false;
    Id op = no_id;
    Id token = no_id;
    double scale = 1.0;
};

/// The loop of one role that the graph stands for.
struct GraphLoop {
    std::int16_t role = 0;
    std::uint16_t node = 0;   ///< of the loop, in Kernel::nodes
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

/// The main loop of each role is the one with most instructions; an inner loop of up to 8 trips is unfolded,
/// a longer one becomes the main loop when it holds most of the work and is otherwise folded into nodes that
/// stand for all of its trips. One warp stands for its role, and one instance, except where instances take
/// turns within the loop (tokens keyed by tile). Iterations of different roles are numbered so that no
/// distance is negative. Ops whose `when` fails in the middle of the loop are left out.
///
/// Throws Error naming the kernel when the graph is too large, when roles use a token at rates that never
/// meet, or when it can never move (a cycle within one iteration): that names the tokens and ops of the
/// cycle. Needs a kernel that check() accepts, at most 8 roles and 32 tokens.
void build_topology(const Kernel& kernel, const WorkItem& item, EventTopology& topology);

/// "producer:wait empty", "consumer:op 4 wgmma", for reports of a critical cycle.
[[nodiscard]] std::string describe(const Kernel& kernel, const GraphNode& node);

}  // namespace warptime::model::kernel
