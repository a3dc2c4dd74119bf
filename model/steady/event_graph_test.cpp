// Weights on a topology, and words for a path.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/event_graph.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <span>
#include <vector>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;

/// Two ops: the second waits for the first, the first for the second of the previous trip.
Kernel two_in_turn() {
    Kernel kernel;
    kernel.name = "turns";
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    build.role("warp", 1);
    build.loop(10);
    build.op(make_op(InstructionClass::fma_f32, 1, {{1, 1}}));
    build.op(make_op(InstructionClass::mufu, 1, {{0, 0}}));
    build.end();
    build.finish();
    check(kernel);
    return kernel;
}

}  // namespace

TEST_CASE("an edge for a dep weighs the latency of what it waits for, one for the order of issue its issue") {
    const Kernel kernel = two_in_turn();
    const std::vector<double> issue{1.0, 4.0};
    const std::vector<double> latency{30.0, 50.0};
    EventTopology topology;
    EventGraph graph;
    build_event_graph(kernel, WorkItem{}, std::span<const double>(issue), std::span<const double>(latency),
                      topology, graph);
    REQUIRE(graph.node_count() == 2);
    CHECK(graph.completion[0] == 30.0);
    CHECK(graph.completion[1] == 50.0);
    bool waits = false;
    bool follows = false;
    for (const auto& edge : graph.edges) {
        waits = waits || (edge.from == 0 && edge.to == 1 && edge.weight == 30.0 && edge.distance == 0);
        follows = follows || (edge.from == 1 && edge.to == 0 && edge.weight == 50.0 && edge.distance == 1);
        CHECK((edge.weight == 1.0 || edge.weight == 4.0 || edge.weight == 30.0 || edge.weight == 50.0));
    }
    CHECK(waits);
    CHECK(follows);
}

TEST_CASE("a path is told event by event, with the trips between") {
    const Kernel kernel = two_in_turn();
    EventTopology topology;
    build_topology(kernel, WorkItem{}, topology);
    std::vector<Place> all(topology.edges.size());
    std::iota(all.begin(), all.end(), Place{0});
    const std::string words = describe(kernel, topology, all);
    CHECK(words.find("warp") == 0);
    CHECK(words.find(" -> ") != std::string::npos);
    CHECK(words.find("(1 later)") != std::string::npos);
    CHECK(describe(kernel, topology, {}).empty());
}
