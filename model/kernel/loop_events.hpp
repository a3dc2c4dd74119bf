// The main loop of each role and, for one of its iterations, the ops, waits and arrivals in order.
// A part of event_topology: fixed arrays, filled without allocating.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/event_topology.hpp"

#include <array>
#include <cstdint>

namespace warptime::model::kernel::detail {

inline constexpr std::size_t max_graph_tokens = 32;

/// One event of an iteration. Times are left to the caller; issue_scale multiplies the issue cycles of an op
/// that stands for several runs or runs only once in several. No default values here and below: a set of loop
/// events is made for every evaluation, and clearing what is not used would cost more than the rest.
struct Leaf {
    NodeKind kind;
    Id payload;
    std::uint16_t node;       ///< in Kernel::nodes
    std::uint16_t loop;       ///< node of its innermost loop
    std::int64_t occurrence;  ///< which run of this node (for a wait: of its token) in the iteration
    std::int64_t runs;        ///< of this node in the iteration
    std::int64_t folded;      ///< trips that this leaf stands for
    double issue_scale;
    Id arrives;                  ///< token that gets an arrival
    std::int64_t phase;          ///< of that arrival, counted from the first of the iteration
    std::int64_t phases_before;  ///< a wait: phases of its token that this warp has given before it
};

/// What one iteration of one role does with one token, phases rather than arrivals.
struct TokenCount {
    std::int64_t waits;
    std::int64_t phases;
    std::int64_t waits_before;  ///< the loop, in the role's prologue
    std::int64_t phases_before;
    std::int64_t arrivals;  ///< by one warp that stands for the role
    std::int64_t arrivals_before;
    std::int64_t all_arrivals;  ///< by all warps of the role
};

struct RoleLoop {
    std::size_t role;
    std::size_t node;
    std::int64_t trips;
    std::int64_t instances;  ///< that stand in the graph
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
void find_loop_events(const Kernel& kernel, const WorkItem& item, LoopEvents& events);

}  // namespace warptime::model::kernel::detail
