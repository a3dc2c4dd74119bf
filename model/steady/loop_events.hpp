// Main loop of each role and, for one iteration, its ops, waits and arrivals in order.
// Ignores: times, which event_graph adds.
// Source: model/kernel/README.md, Meaning 2 to 4.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_nodes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::steady::detail {

/// One event of an iteration; the caller adds times. issue_scale multiplies the issue cycles of an op that
/// stands for several runs, or runs once in several.
struct Leaf {
    kernel::NodeKind kind;
    kernel::Id payload;
    std::uint32_t node;       ///< in Kernel::nodes
    std::uint32_t loop;       ///< node of its innermost loop
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
    std::vector<TokenCount> tokens;
};

struct LoopEvents {
    std::vector<RoleLoop> loops;
    std::vector<Leaf> leaves;

    [[nodiscard]] const Leaf& leaf(const RoleLoop& loop, std::size_t i) const {
        return leaves[loop.first_leaf + i];
    }
};

/// Fills `events`, which keeps its memory for the next kernel.
void find_loop_events(const kernel::Kernel& kernel, const kernel::WorkItem& item, LoopEvents& events);

}  // namespace warptime::model::steady::detail
