// Period of an event graph against Boost.Graph's cycle ratio, and against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/cycle_ratio.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/howard_cycle_ratio.hpp>
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace {

using namespace warptime::model::steady;
using Graph = EventGraph;

Graph graph_of(int nodes, const std::vector<Graph::Edge>& edges) {
    Graph graph;
    graph.completion.assign(static_cast<std::size_t>(nodes), 0.0);
    for (const auto& edge : edges) {
        graph.add_edge(edge.from, edge.to, edge.weight, edge.distance);
    }
    return graph;
}

double by_boost(const Graph& graph) {
    using namespace boost;
    using Edges = property<edge_weight_t, double, property<edge_weight2_t, double>>;
    using Boost = adjacency_list<listS, vecS, directedS, no_property, Edges>;
    Boost other(graph.node_count());
    for (const auto& edge : graph.edges) {
        const auto added = add_edge(static_cast<std::size_t>(edge.from), static_cast<std::size_t>(edge.to),
                                    Edges(edge.weight, {static_cast<double>(edge.distance)}), other);
        (void)added;
    }
    return maximum_cycle_ratio(other, get(vertex_index, other), get(edge_weight, other),
                               get(edge_weight2, other));
}

void check_is_cycle(const Graph& graph, const CycleRatio& result) {
    double weight = 0.0;
    int distance = 0;
    const auto& edges = result.edges;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto& edge = graph.edges[static_cast<std::size_t>(edges[i])];
        const auto& after = graph.edges[static_cast<std::size_t>(edges[(i + 1) % edges.size()])];
        RC_ASSERT(edge.to == after.from);
        weight += edge.weight;
        distance += edge.distance;
    }
    RC_ASSERT(std::abs(weight / distance - result.ratio) <= 1e-12 * weight);
}

TEST_CASE("one loop of one event has its own weight as period") {
    const auto result = max_cycle_ratio(graph_of(1, {{0, 0, 7.5, 1}}));
    CHECK(result.ratio == 7.5);
    CHECK(result.edges.size() == 1);
    CHECK(max_cycle_ratio(graph_of(1, {{0, 0, 9.0, 3}})).ratio == 3.0);
}

TEST_CASE("an acyclic graph has no ratio") {
    const auto result = max_cycle_ratio(graph_of(3, {{0, 1, 5.0, 0}, {1, 2, 5.0, 1}, {0, 2, 1.0, 0}}));
    CHECK(result.ratio == 0.0);
    CHECK(result.edges.empty());
    CHECK(max_cycle_ratio(graph_of(0, {})).ratio == 0.0);
}

TEST_CASE("a pipeline with D stages has the period max(chain / D, slowest step)") {
    for (const int stages : {1, 2, 3, 5, 20}) {
        const auto result = max_cycle_ratio(
            graph_of(2, {{0, 0, 30.0, 1}, {1, 1, 100.0, 1}, {0, 1, 600.0, 0}, {1, 0, 120.0, stages}}));
        CHECK(result.ratio == doctest::Approx(std::max(100.0, 720.0 / stages)));
    }
}

TEST_CASE("a positive cycle within one iteration is refused") {
    CHECK_THROWS_AS((void)max_cycle_ratio(graph_of(2, {{0, 1, 1.0, 0}, {1, 0, 1.0, 0}})), warptime::Error);
    CHECK_THROWS_AS((void)longest_path(graph_of(2, {{0, 1, 1.0, 0}, {1, 0, 1.0, 0}})), warptime::Error);
}

TEST_CASE("the ratio is Boost.Graph's on random graphs, and the cycle has it") {
    CHECK(rc::check("against maximum_cycle_ratio", [] {
        const int nodes = *rc::gen::inRange(1, 14);
        const int extra = *rc::gen::inRange(0, 40);
        std::vector<Graph::Edge> edges;
        // A ring makes the graph strongly connected, which Boost's implementation needs. Edges that go back
        // have distances of at least 1, so every cycle has some distance.
        for (int n = 0; n < nodes; ++n) {
            edges.push_back({n, (n + 1) % nodes, *rc::gen::inRange(1, 1000) / 8.0, n + 1 == nodes ? 1 : 0});
        }
        for (int i = 0; i < extra; ++i) {
            const int from = *rc::gen::inRange(0, nodes);
            const int to = *rc::gen::inRange(0, nodes);
            const int distance = *rc::gen::inRange(to > from ? 0 : 1, 6);
            edges.push_back({from, to, *rc::gen::inRange(0, 1000) / 8.0, distance});
        }
        const Graph graph = graph_of(nodes, edges);
        const auto result = max_cycle_ratio(graph);
        const double other = by_boost(graph);
        RC_ASSERT(std::abs(result.ratio - other) <= 1e-6 * (1.0 + other));
        check_is_cycle(graph, result);
    }));
}

TEST_CASE("thousands of events of several roles that hand work to and fro have Boost.Graph's ratio") {
    CHECK(rc::check("against maximum_cycle_ratio, large", [] {
        const int roles = *rc::gen::inRange(1, 5);
        const int length = *rc::gen::inRange(200, 800);
        const auto node = [length](int role, int at) { return role * length + at; };
        std::vector<Graph::Edge> edges;
        for (int r = 0; r < roles; ++r) {
            for (int n = 0; n < length; ++n) {
                const bool last = n + 1 == length;
                edges.push_back(
                    {node(r, n), node(r, last ? 0 : n + 1), *rc::gen::inRange(1, 64) / 8.0, last ? 1 : 0});
                if (n % 7 == 0) {  // waits for a result of an earlier op, of this trip or an earlier one
                    const int from = *rc::gen::inRange(0, length);
                    edges.push_back({node(r, from), node(r, n), *rc::gen::inRange(0, 4000) / 8.0,
                                     from < n ? *rc::gen::inRange(0, 2) : *rc::gen::inRange(1, 5)});
                }
            }
            // Hand-overs back and forth between neighbouring roles; stages come back two trips later.
            for (int n = 0; r > 0 && n < length; n += 5) {
                edges.push_back({node(r - 1, n), node(r, n), *rc::gen::inRange(0, 4000) / 8.0, 0});
                edges.push_back({node(r, n), node(r - 1, n), *rc::gen::inRange(0, 4000) / 8.0, 2});
            }
        }
        const Graph graph = graph_of(roles * length, edges);
        const auto result = max_cycle_ratio(graph);
        const double other = by_boost(graph);
        RC_ASSERT(std::abs(result.ratio - other) <= 1e-6 * (1.0 + other));
        check_is_cycle(graph, result);
    }));
}

TEST_CASE("any graph: no cycle of the graph beats the ratio, by enumeration") {
    CHECK(rc::check("against all simple cycles", [] {
        const int nodes = *rc::gen::inRange(1, 7);
        const int count = *rc::gen::inRange(0, 16);
        std::vector<Graph::Edge> edges;
        for (int i = 0; i < count; ++i) {
            const int from = *rc::gen::inRange(0, nodes);
            const int to = *rc::gen::inRange(0, nodes);
            edges.push_back(
                {from, to, *rc::gen::inRange(0, 100) * 1.0, *rc::gen::inRange(to > from ? 0 : 1, 4)});
        }
        const Graph graph = graph_of(nodes, edges);
        double best = 0.0;
        std::vector<bool> on_path(static_cast<std::size_t>(nodes), false);
        const auto visit = [&](auto&& self, int root, int at, double weight, int distance) -> void {
            for (const auto& edge : edges) {
                if (edge.from != at || edge.to < root) {
                    continue;
                }
                if (edge.to == root) {
                    best = std::max(best, (weight + edge.weight) / (distance + edge.distance));
                } else if (!on_path[static_cast<std::size_t>(edge.to)]) {
                    on_path[static_cast<std::size_t>(edge.to)] = true;
                    self(self, root, edge.to, weight + edge.weight, distance + edge.distance);
                    on_path[static_cast<std::size_t>(edge.to)] = false;
                }
            }
        };
        for (int root = 0; root < nodes; ++root) {
            visit(visit, root, root, 0.0, 0);
        }
        RC_ASSERT(std::abs(max_cycle_ratio(graph).ratio - best) <= 1e-9 * (1.0 + best));
    }));
}

TEST_CASE("the longest path ends with the completion of its last event") {
    Graph graph = graph_of(4, {{0, 1, 2.0, 0}, {1, 2, 500.0, 0}, {0, 3, 1.0, 0}, {3, 0, 900.0, 1}});
    graph.completion[2] = 60.0;
    graph.completion[3] = 400.0;
    const auto path = longest_path(graph);
    CHECK(path.length == 562.0);
    CHECK(path.last == 2);
    REQUIRE(path.edges.size() == 2);
    CHECK(path.edges[0] == 0);
    CHECK(path.edges[1] == 1);
}

}  // namespace
