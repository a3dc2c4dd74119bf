// Steady-state period of an event graph: the largest ratio of a cycle's weights to its distances.
// Ignores: negative weights (ratios below 0 are given as 0).
// Source: parametric search of Lawler (Combinatorial Optimization, 1976, chapter 3.13) with Newton's step;
// Dasdan, ACM TODAES 9(4), 2004. The ratio rises until longest paths under weight - ratio * distance have no
// positive cycle. No allocation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/steady/event_graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace warptime::model::steady {

/// Ratio in cycles per iteration, and the critical cycle's edges in order. 0 and no edge without a cycle of
/// positive weight.
struct CycleRatio {
    double ratio = 0.0;
    int length = 0;
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> cycle;
    [[nodiscard]] std::span<const std::int16_t> edges() const {
        return {cycle.data(), static_cast<std::size_t>(length)};
    }
};

/// Longest path over edges of distance 0, to the completion of its last node.
struct LongestPath {
    double length = 0.0;
    int last = -1;  ///< last node of the path; -1 for an empty graph
    int edge_count = 0;
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> path;
    [[nodiscard]] std::span<const std::int16_t> edges() const {
        return {path.data(), static_cast<std::size_t>(edge_count)};
    }
};

/// Critical cycle and its weight per iteration. Throws Error when a cycle of positive weight spans no
/// iteration.
[[nodiscard]] CycleRatio max_cycle_ratio(const EventGraph& graph);

/// Time from an iteration's start, with nothing in flight, to the completion of all its events: the
/// pipeline's fill. Needs edges of distance 0 without a cycle.
[[nodiscard]] LongestPath longest_path(const EventGraph& graph);

}  // namespace warptime::model::steady
