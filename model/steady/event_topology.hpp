// Events of one CTA's main loops and the events that each waits for, without numbers.
// Nodes are ops, waits and signals of one iteration. Edges are program order, deps and tokens, each with the
// number of iterations between its ends. Building takes time in proportion to events and edges.
// Ignores: servers shared with other warps and CTAs (the engines add these), and iterations at a loop's ends.
// Branches count as taken.
// Source: README.md, Meaning 2 to 4 and 7; the phase rules of walk.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/steady/event_nodes.hpp"

#include <string>

namespace warptime::model::steady {

/// Builds the topology of a kernel's main loops. The main loop of each role is the one with most
/// instructions. Inner loops of up to 8 trips are unfolded. A longer inner loop with most of the work becomes
/// the main loop; any other folds into nodes that stand for all its trips. One warp of one instance stands
/// for its role. Exception: instances that take turns within the loop (tokens keyed by tile). Roles number
/// iterations so that no distance is negative. Ops whose `when` fails in the middle of the loop are left out.
///
/// Needs a kernel that check() accepts. Throws Error naming the kernel when roles' rates at a token never
/// meet, or meet only after more than 2^26 events. Also throws when the graph can never
/// move (a cycle within one iteration), naming the cycle's tokens and ops.
void build_topology(const kernel::Kernel& kernel, const kernel::WorkItem& item, EventTopology& topology);

/// Words for a node in reports of a critical cycle: "producer:wait empty", "consumer:op 4 wgmma".
[[nodiscard]] std::string describe(const kernel::Kernel& kernel, const GraphNode& node);

}  // namespace warptime::model::steady
