// Steady-state period of an event graph: the largest ratio of a cycle's weights to its distances.
// Ignores: negative weights (ratios below 0 are given as 0).
// Source: parametric search of Lawler (Combinatorial Optimization, 1976, chapter 3.13) with Newton's step;
// Dasdan, ACM TODAES 9(4), 2004. The ratio rises until longest paths under weight - ratio * distance have no
// positive cycle. Edges are relaxed against the order of an iteration, so that one pass finds all longest
// paths within an iteration; a path over d iterations takes d passes more (Yen, Quarterly of Applied
// Mathematics 27, 1970).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_graph.hpp"

#include <vector>

namespace warptime::model::steady {

/// Ratio in cycles per iteration, and the critical cycle's edges in order. 0 and no edge without a cycle of
/// positive weight.
struct CycleRatio {
    double ratio = 0.0;
    std::vector<Place> edges;
};

/// Longest path over edges of distance 0, to the completion of its last node.
struct LongestPath {
    double length = 0.0;
    Place last = -1;  ///< last node of the path; -1 for an empty graph
    std::vector<Place> edges;
};

/// Critical cycle and its weight per iteration. Throws Error when a cycle of positive weight spans no
/// iteration.
[[nodiscard]] CycleRatio max_cycle_ratio(const EventGraph& graph);

/// Time from an iteration's start, with nothing in flight, to the completion of all its events: the
/// pipeline's fill. Needs edges of distance 0 without a cycle.
[[nodiscard]] LongestPath longest_path(const EventGraph& graph);

}  // namespace warptime::model::steady
