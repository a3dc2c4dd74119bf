// Main loop of each role and, for one iteration, its ops, waits and arrivals in order.
// Ignores: times, which event_graph adds. Fixed arrays, filled without allocation.
// Source: model/kernel/README.md, Meaning 2 to 4.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_nodes.hpp"

#include <array>
#include <cstdint>

namespace warptime::model::steady::detail {

inline constexpr std::size_t max_graph_tokens = 32;

/// One event of an iteration; the caller adds times. issue_scale multiplies the issue cycles of an op that
/// stands for several runs, or runs once in several. Members have no default values: every evaluation makes a
/// set of events, and clearing unused ones would dominate its cost.
struct Leaf {
    kernel::NodeKind kind;
    kernel::Id payload;
    std::uint16_t node;       ///< in Kernel::nodes
    std::uint16_t loop;       ///< node of its innermost loop
    std::int64_t occurrence;  ///< number of this run of the node in the iteration; of a wait, of its token
    std::int64_t runs;        ///< runs of this node in the iteration
    std::int64_t folded;      ///< trips that this leaf stands for
    double issue_scale;
    kernel::Id arrives;          ///< token that gets an arrival
    std::int64_t phase;          ///< phase of that arrival, counted from the first of the iteration
    std::int64_t phases_before;  ///< a wait: phases of its token that this warp has given before it
};

/// Use of one token by one iteration of one role, in phases rather than arrivals.
struct TokenCount {
    std::int64_t waits;
    std::int64_t phases;
    std::int64_t waits_before;  ///< waits before the loop, in the role's prologue
    std::int64_t phases_before;
    std::int64_t arrivals;  ///< arrivals of one warp that stands for the role
    std::int64_t arrivals_before;
    std::int64_t all_arrivals;  ///< arrivals of all warps of the role
};

struct RoleLoop {
    std::size_t role;
    std::size_t node;
    std::int64_t trips;
    std::int64_t instances;  ///< instances in the graph
    std::size_t first_leaf;
    std::size_t leaf_count;
    std::array<TokenCount, max_graph_tokens> tokens;
};

struct LoopEvents {
    std::array<RoleLoop, static_cast<std::size_t>(max_graph_roles)> loops;
    std::array<Leaf, static_cast<std::size_t>(max_graph_nodes)> leaves;
    std::size_t loop_count = 0;
    std::size_t leaf_count = 0;

    [[nodiscard]] const Leaf& leaf(const RoleLoop& loop, std::size_t i) const {
        return leaves[loop.first_leaf + i];
    }
};

/// Throws Error for more than 96 events, 8 roles with loops or 32 tokens.
void find_loop_events(const kernel::Kernel& kernel, const kernel::WorkItem& item, LoopEvents& events);

}  // namespace warptime::model::steady::detail
