// Search for the critical cycle of an event graph, and its longest path within an iteration. Ignores and
// source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/cycle_ratio.hpp"

#include "hw/error.hpp"
#include "model/steady/iteration_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ranges>
#include <string>
#include <utility>

namespace warptime::model::steady {
namespace {

/// Edges of a graph, the last ones of an iteration first, and the search state.
class CycleSearch {
  public:
    explicit CycleSearch(const EventGraph& graph);

    /// Raises `ratio` to its maximum and keeps the cycle; throws for a positive cycle without distance.
    void run();

    double ratio = 0.0;
    std::vector<Place> best;  ///< edges of the best cycle, by their places in the graph

  private:
    struct Edge {
        double weight;
        double distance;
        double reduced;
        Place from;
        Place to;
        Place place;  ///< in the graph
    };
    bool relax(double tolerance);
    bool better_cycle();
    void keep(Place node, double candidate);

    /// Edge chosen out of a node, or -1.
    [[nodiscard]] Place& next(Place node) { return next_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] const Edge& edge(Place e) const { return edges_[static_cast<std::size_t>(e)]; }

    std::vector<Edge> edges_;
    std::vector<double> potential_;
    std::vector<Place> next_;
    std::vector<Place> visited_;  ///< by node: start from which the search visited it
};

CycleSearch::CycleSearch(const EventGraph& graph)
    : potential_(graph.node_count(), 0.0), next_(graph.node_count(), -1), visited_(graph.node_count(), -1) {
    const EdgesOut out = edges_out(graph.node_count(), graph.edges);
    std::vector<Place> order = order_within_iteration(graph.node_count(), graph.edges);
    if (order.size() < graph.node_count()) {
        // Nodes that wait for one another within the iteration come last, in any order.
        std::vector<bool> placed(graph.node_count());
        for (const Place n : order) placed[static_cast<std::size_t>(n)] = true;
        for (std::size_t n = 0; n < placed.size(); ++n) {
            if (!placed[n]) order.push_back(static_cast<Place>(n));
        }
    }
    edges_.reserve(graph.edges.size());
    for (const Place n : std::ranges::reverse_view(order)) {
        const auto node = static_cast<std::size_t>(n);
        for (std::size_t o = out.first[node]; o < out.first[node + 1]; ++o) {
            const EventGraph::Edge& edge = graph.edges[static_cast<std::size_t>(out.order[o])];
            edges_.push_back({edge.weight, static_cast<double>(edge.distance), edge.weight, edge.from,
                              edge.to, out.order[o]});
        }
    }
}

bool CycleSearch::relax(double tolerance) {
    bool changed = false;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const Edge& edge = edges_[e];
        const double value = potential_[static_cast<std::size_t>(edge.to)] + edge.reduced;
        if (value > potential_[static_cast<std::size_t>(edge.from)] + tolerance) {
            potential_[static_cast<std::size_t>(edge.from)] = value;
            next(edge.from) = static_cast<Place>(e);
            changed = true;
        }
    }
    return changed;
}

void CycleSearch::keep(Place node, double candidate) {
    ratio = candidate;
    best.clear();
    Place at = node;
    do {
        const Edge& chosen = edge(next(at));
        best.push_back(chosen.place);
        at = chosen.to;
    } while (at != node);
}

/// Looks for cycles among the chosen edges; true when one beats `ratio`.
bool CycleSearch::better_cycle() {
    bool found = false;
    std::fill(visited_.begin(), visited_.end(), -1);
    const auto visited = [this](Place node) -> Place& { return visited_[static_cast<std::size_t>(node)]; };
    for (Place n = 0; n < static_cast<Place>(visited_.size()); ++n) {
        Place at = n;
        while (at >= 0 && visited(at) < 0) {
            visited(at) = n;
            const Place e = next(at);
            at = e < 0 ? -1 : edge(e).to;
        }
        if (at < 0 || visited(at) != n) {
            continue;
        }
        double weight = 0.0;
        double distance = 0.0;
        Place node = at;
        do {
            const Edge& chosen = edge(next(node));
            weight += chosen.weight;
            distance += chosen.distance;
            node = chosen.to;
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
    for (const Edge& edge : edges_) {
        scale += std::abs(edge.weight);
    }
    const double tolerance = 1e-12 * scale;
    while (relax(tolerance)) {
        if (better_cycle()) {
            for (Edge& edge : edges_) {
                edge.reduced = edge.weight - ratio * edge.distance;
            }
            std::fill(next_.begin(), next_.end(), -1);
        }
    }
}

}  // namespace

CycleRatio max_cycle_ratio(const EventGraph& graph) {
    CycleSearch search(graph);
    search.run();
    CycleRatio result;
    double weight = 0.0;
    double distance = 0.0;
    for (const Place e : search.best) {
        weight = weight + graph.edges[static_cast<std::size_t>(e)].weight;
        distance += graph.edges[static_cast<std::size_t>(e)].distance;
    }
    result.edges = std::move(search.best);
    if (distance > 0.0) {
        result.ratio = weight / distance;
    }
    return result;
}

LongestPath longest_path(const EventGraph& graph) {
    const std::size_t nodes = graph.node_count();
    const std::vector<Place> order = order_within_iteration(nodes, graph.edges);
    if (order.size() < nodes) {
        throw Error("event graph", "a cycle within one iteration",
                    "at least one iteration around every cycle");
    }
    const EdgesOut out = edges_out(nodes, graph.edges);
    std::vector<double> reach(nodes, 0.0);
    std::vector<Place> from(nodes, -1);
    for (const Place n : order) {
        const auto node = static_cast<std::size_t>(n);
        for (std::size_t o = out.first[node]; o < out.first[node + 1]; ++o) {
            const EventGraph::Edge& edge = graph.edges[static_cast<std::size_t>(out.order[o])];
            const double value = reach[node] + edge.weight;
            if (edge.distance == 0 && value > reach[static_cast<std::size_t>(edge.to)]) {
                reach[static_cast<std::size_t>(edge.to)] = value;
                from[static_cast<std::size_t>(edge.to)] = out.order[o];
            }
        }
    }
    LongestPath result;
    double longest = -1.0;
    for (std::size_t n = 0; n < nodes; ++n) {
        const double value = reach[n] + graph.completion[n];
        if (value > longest) {
            longest = value;
            result.last = static_cast<Place>(n);
        }
    }
    if (result.last < 0) {
        return result;
    }
    result.length = graph.completion[static_cast<std::size_t>(result.last)];
    for (Place at = result.last; from[static_cast<std::size_t>(at)] >= 0;) {
        const Place e = from[static_cast<std::size_t>(at)];
        result.edges.push_back(e);
        result.length = result.length + graph.edges[static_cast<std::size_t>(e)].weight;
        at = graph.edges[static_cast<std::size_t>(e)].from;
    }
    std::reverse(result.edges.begin(), result.edges.end());
    return result;
}

}  // namespace warptime::model::steady
