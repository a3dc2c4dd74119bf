// The steady-state period of a graph of events: the largest sum of weights / sum of distances of its cycles.
// Ignores: negative weights (ratios below 0 are given as 0). Method: the ratio is raised to that of a better
// cycle until longest paths under weight - ratio * distance have no positive cycle, which is the parametric
// search of Lawler (Combinatorial Optimization, 1976, chapter 3.13) with Newton's step; see Dasdan, ACM
// TODAES 9(4), 2004. No allocation. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/math.hpp"
#include "model/kernel/event_graph.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace warptime::model::kernel {

/// The ratio, in cycles per iteration, and the critical cycle's edges in order; 0 and no edge without a cycle
/// of positive weight.
template <class S>
struct CycleRatio {
    S ratio{};
    int length = 0;
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> cycle;
    [[nodiscard]] std::span<const std::int16_t> edges() const {
        return {cycle.data(), static_cast<std::size_t>(length)};
    }
};

/// The longest path over edges of distance 0 to the completion of its last node.
template <class S>
struct LongestPath {
    S length{};
    int last = -1;  ///< node at its end; -1 for an empty graph
    int edge_count = 0;
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> path;
    [[nodiscard]] std::span<const std::int16_t> edges() const {
        return {path.data(), static_cast<std::size_t>(edge_count)};
    }
};

namespace detail {

/// Plain numbers of a graph and the search state.
struct CycleSearch {
    struct Edge {
        double weight;
        double distance;
        double reduced;
        std::int16_t from;
        std::int16_t to;
    };
    std::array<Edge, static_cast<std::size_t>(max_graph_edges)> edges;
    std::array<double, static_cast<std::size_t>(max_graph_nodes)> potential;
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> next;  ///< chosen edge out of a node
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> visited;  ///< by which start
    int node_count = 0;
    int edge_count = 0;
    double ratio = 0.0;
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> best;
    int best_length = 0;

    /// Raises `ratio` to its maximum and keeps the cycle; throws for a positive cycle without distance.
    void run();

  private:
    bool relax(double tolerance);
    bool better_cycle();
    void keep(int node, double candidate);
};

inline bool CycleSearch::relax(double tolerance) {
    bool changed = false;
    for (int e = edge_count - 1; e >= 0; --e) {
        const Edge& edge = edges[static_cast<std::size_t>(e)];
        const double value = potential[static_cast<std::size_t>(edge.to)] + edge.reduced;
        if (value > potential[static_cast<std::size_t>(edge.from)] + tolerance) {
            potential[static_cast<std::size_t>(edge.from)] = value;
            next[static_cast<std::size_t>(edge.from)] = static_cast<std::int16_t>(e);
            changed = true;
        }
    }
    return changed;
}

inline void CycleSearch::keep(int node, double candidate) {
    ratio = candidate;
    best_length = 0;
    int at = node;
    do {
        const std::int16_t e = next[static_cast<std::size_t>(at)];
        best[static_cast<std::size_t>(best_length++)] = e;
        at = edges[static_cast<std::size_t>(e)].to;
    } while (at != node);
}

/// Looks for cycles among the chosen edges; true when one beats `ratio`.
inline bool CycleSearch::better_cycle() {
    bool found = false;
    for (int n = 0; n < node_count; ++n) {
        visited[static_cast<std::size_t>(n)] = -1;
    }
    for (int n = 0; n < node_count; ++n) {
        int at = n;
        while (at >= 0 && visited[static_cast<std::size_t>(at)] < 0) {
            visited[static_cast<std::size_t>(at)] = static_cast<std::int16_t>(n);
            const std::int16_t e = next[static_cast<std::size_t>(at)];
            at = e < 0 ? -1 : edges[static_cast<std::size_t>(e)].to;
        }
        if (at < 0 || visited[static_cast<std::size_t>(at)] != n) {
            continue;
        }
        double weight = 0.0;
        double distance = 0.0;
        int node = at;
        do {
            const Edge& edge = edges[static_cast<std::size_t>(next[static_cast<std::size_t>(node)])];
            weight += edge.weight;
            distance += edge.distance;
            node = edge.to;
        } while (node != at);
        if (distance <= 0.0) {
            if (weight > 0.0) {
                throw Error("event graph",
                            "a cycle of " + std::to_string(weight) + " cycles within one iteration",
                            "at least one iteration around every cycle");
            }
            continue;
        }
        if (weight / distance > ratio) {
            keep(at, weight / distance);
            found = true;
        }
    }
    return found;
}

inline void CycleSearch::run() {
    double scale = 0.0;
    for (int e = 0; e < edge_count; ++e) {
        Edge& edge = edges[static_cast<std::size_t>(e)];
        edge.reduced = edge.weight;
        scale += std::abs(edge.weight);
    }
    const double tolerance = 1e-12 * scale;
    for (int n = 0; n < node_count; ++n) {
        potential[static_cast<std::size_t>(n)] = 0.0;
        next[static_cast<std::size_t>(n)] = -1;
    }
    while (relax(tolerance)) {
        if (better_cycle()) {
            for (int e = 0; e < edge_count; ++e) {
                Edge& edge = edges[static_cast<std::size_t>(e)];
                edge.reduced = edge.weight - ratio * edge.distance;
            }
            for (int n = 0; n < node_count; ++n) {
                next[static_cast<std::size_t>(n)] = -1;
            }
        }
    }
}

}  // namespace detail

/// Values choose the critical cycle; derivatives are those of its weights. Throws Error when a cycle of
/// positive weight spans no iteration.
template <class S>
[[nodiscard]] CycleRatio<S> max_cycle_ratio(const EventGraph<S>& graph) {
    using hw::value_of;
    detail::CycleSearch search;
    search.node_count = graph.node_count;
    search.edge_count = graph.edge_count;
    for (std::size_t e = 0; e < static_cast<std::size_t>(graph.edge_count); ++e) {
        const auto& edge = graph.edges[e];
        search.edges[e] = {value_of(edge.weight), static_cast<double>(edge.distance), 0.0,
                           static_cast<std::int16_t>(edge.from), static_cast<std::int16_t>(edge.to)};
    }
    search.run();
    CycleRatio<S> result;
    S weight{};
    int distance = 0;
    for (int i = 0; i < search.best_length; ++i) {
        const auto e = search.best[static_cast<std::size_t>(i)];
        result.cycle[static_cast<std::size_t>(i)] = e;
        weight = weight + graph.edges[static_cast<std::size_t>(e)].weight;
        distance += graph.edges[static_cast<std::size_t>(e)].distance;
    }
    result.length = search.best_length;
    if (distance > 0) {
        result.ratio = weight / static_cast<double>(distance);
    }
    return result;
}

/// From the start of one iteration, nothing in flight, to the completion of everything in it: the latency
/// that fills the pipeline. Needs edges of distance 0 without a cycle.
template <class S>
[[nodiscard]] LongestPath<S> longest_path(const EventGraph<S>& graph) {
    using hw::value_of;
    std::array<double, static_cast<std::size_t>(max_graph_nodes)> reach{};
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> from;
    from.fill(-1);
    bool changed = true;
    for (int pass = 0; changed; ++pass) {
        if (pass > graph.node_count) {
            throw Error("event graph", "a cycle within one iteration",
                        "at least one iteration around every cycle");
        }
        changed = false;
        for (int e = 0; e < graph.edge_count; ++e) {
            const auto& edge = graph.edges[static_cast<std::size_t>(e)];
            const double value = reach[static_cast<std::size_t>(edge.from)] + value_of(edge.weight);
            if (edge.distance == 0 && value > reach[static_cast<std::size_t>(edge.to)]) {
                reach[static_cast<std::size_t>(edge.to)] = value;
                from[static_cast<std::size_t>(edge.to)] = static_cast<std::int16_t>(e);
                changed = true;
            }
        }
    }
    LongestPath<S> result;
    double longest = -1.0;
    for (int n = 0; n < graph.node_count; ++n) {
        const auto i = static_cast<std::size_t>(n);
        const double value = reach[i] + value_of(graph.completion[i]);
        if (value > longest) {
            longest = value;
            result.last = n;
        }
    }
    if (result.last < 0) {
        return result;
    }
    result.length = graph.completion[static_cast<std::size_t>(result.last)];
    for (int at = result.last; from[static_cast<std::size_t>(at)] >= 0;) {
        const std::int16_t e = from[static_cast<std::size_t>(at)];
        result.path[static_cast<std::size_t>(result.edge_count++)] = e;
        result.length = result.length + graph.edges[static_cast<std::size_t>(e)].weight;
        at = graph.edges[static_cast<std::size_t>(e)].from;
    }
    for (int i = 0, j = result.edge_count - 1; i < j; ++i, --j) {
        const std::int16_t other = result.path[static_cast<std::size_t>(i)];
        result.path[static_cast<std::size_t>(i)] = result.path[static_cast<std::size_t>(j)];
        result.path[static_cast<std::size_t>(j)] = other;
    }
    return result;
}

}  // namespace warptime::model::kernel
