// Search for the critical cycle of an event graph, and its longest path within an iteration. Ignores and
// source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/cycle_ratio.hpp"

#include "hw/error.hpp"

#include <cmath>
#include <string>

namespace warptime::model::steady {
namespace {

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
    /// start from which the search visited a node
    std::array<std::int16_t, static_cast<std::size_t>(max_graph_nodes)> visited;
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

bool CycleSearch::relax(double tolerance) {
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

void CycleSearch::keep(int node, double candidate) {
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
bool CycleSearch::better_cycle() {
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

void CycleSearch::run() {
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

}  // namespace

CycleRatio max_cycle_ratio(const EventGraph& graph) {
    CycleSearch search;
    search.node_count = graph.node_count;
    search.edge_count = graph.edge_count;
    for (std::size_t e = 0; e < static_cast<std::size_t>(graph.edge_count); ++e) {
        const auto& edge = graph.edges[e];
        search.edges[e] = {edge.weight, static_cast<double>(edge.distance), 0.0,
                           static_cast<std::int16_t>(edge.from), static_cast<std::int16_t>(edge.to)};
    }
    search.run();
    CycleRatio result;
    double weight = 0.0;
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

LongestPath longest_path(const EventGraph& graph) {
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
            const double value = reach[static_cast<std::size_t>(edge.from)] + edge.weight;
            if (edge.distance == 0 && value > reach[static_cast<std::size_t>(edge.to)]) {
                reach[static_cast<std::size_t>(edge.to)] = value;
                from[static_cast<std::size_t>(edge.to)] = static_cast<std::int16_t>(e);
                changed = true;
            }
        }
    }
    LongestPath result;
    double longest = -1.0;
    for (int n = 0; n < graph.node_count; ++n) {
        const auto i = static_cast<std::size_t>(n);
        const double value = reach[i] + graph.completion[i];
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

}  // namespace warptime::model::steady
