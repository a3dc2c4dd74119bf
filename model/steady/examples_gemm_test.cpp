// Two kinds of GEMM as descriptions: totals of the walk and the period against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/examples/check_example.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/walk.hpp"
#include "model/steady/cycle_ratio.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;

CycleRatio period(const Kernel& kernel, const WorkItem& item, const std::vector<double>& issue,
                  const std::vector<double>& latency, EventTopology& topology) {
    EventGraph graph;
    build_event_graph(kernel, item, std::span<const double>(issue), std::span<const double>(latency),
                      topology, graph);
    return max_cycle_ratio(graph);
}

TEST_CASE("a GEMM of lanes' copies: FLOP, bytes and instructions of a CTA") {
    Kernel kernel;
    const CpAsyncGemm problem;
    cp_async_gemm(kernel, problem);
    check_example(kernel);
    const WalkTotals totals = walk_totals(kernel, item_of(1, 2));
    CHECK(totals.matrix_flop == 2.0 * 128 * 128 * 512);
    CHECK(totals.traffic(Space::global, Direction::read).requested_bytes == 2 * 128 * 512 * 2);
    CHECK(totals.traffic(Space::global, Direction::read).inside_bytes == 2 * 128 * 512 * 2);
    CHECK(totals.traffic(Space::shared, Direction::write).inside_bytes == 2 * 128 * 512 * 2);
    CHECK(totals.traffic(Space::global, Direction::write).inside_bytes == 128 * 128 * 2);
    // Each of 4 warps loads 64 rows of A and of B in each of 16 iterations.
    CHECK(totals.traffic(Space::shared, Direction::read).inside_bytes == 16 * 4 * 2 * 64 * 32 * 2);
    CHECK(totals.instructions_of(InstructionClass::cp_async) == 16 * 8 * 4);
    CHECK(totals.instructions_of(InstructionClass::mma_sync) == 16 * 64 * 4);
    CHECK(totals.instructions_of(InstructionClass::cp_async_commit) == 18 * 4);
    CHECK(totals.tokens[0].arrivals == 16 * 2 * 4);
    CHECK(totals.tokens[0].waits == 16 * 4);
    CHECK(totals.tokens[1].arrivals == 16 * 4);
}

TEST_CASE("a GEMM of lanes' copies: an edge tile reads only rows that exist") {
    Kernel kernel;
    CpAsyncGemm problem;
    problem.m = 500;
    problem.n = 400;
    cp_async_gemm(kernel, problem);
    const WalkTotals totals = walk_totals(kernel, item_of(3, 3));
    CHECK(totals.traffic_of_buffer(0, Direction::read).inside_bytes == (500 - 384) * 512 * 2);
    CHECK(totals.traffic_of_buffer(1, Direction::read).inside_bytes == (400 - 384) * 512 * 2);
    CHECK(totals.traffic_of_buffer(2, Direction::write).inside_bytes == (500 - 384) * (400 - 384) * 2);
    CHECK(totals.traffic_of_buffer(2, Direction::write).requested_bytes == 128 * 128 * 2);
}

TEST_CASE(
    "a GEMM of lanes' copies: the period is the slowest of issue, tensor chain and two loads in flight") {
    Kernel kernel;
    cp_async_gemm(kernel, {});
    auto issue = times(kernel);
    auto latency = times(kernel);
    // Ops of the main loop: 3 barrier, 4 and 5 copies, 6 commit, 7 and 8 fragments, 9 mma.
    const double copy_issue = 16.0;
    const double mma_issue = 512.0;
    const double fragment_latency = 33.0;
    for (const double load_latency : {500.0, 800.0, 1600.0, 3000.0}) {
        for (const double mma_latency : {530.0, 900.0}) {
            issue[4] = issue[5] = copy_issue;
            latency[4] = latency[5] = load_latency;
            issue[3] = issue[6] = 1.0;
            issue[7] = issue[8] = 8.0;
            latency[7] = latency[8] = fragment_latency;
            issue[9] = mma_issue;
            latency[9] = mma_latency;
            EventTopology topology;
            const auto result = period(kernel, item_of(0, 0), issue, latency, topology);
            const double in_order = 1.0 + 2 * copy_issue + 1.0 + 8.0 + fragment_latency + mma_issue;
            // The copy of B, issued after that of A, completes two iterations before its wait.
            const double loads = (1.0 + copy_issue + load_latency) / 2.0;
            CHECK(result.ratio == doctest::Approx(std::max({in_order, loads, mma_latency})));
        }
    }
}

TEST_CASE("warp-specialized GEMM: totals of one CTA over its items, cooperative and ping-pong") {
    for (const bool pingpong : {false, true}) {
        CAPTURE(pingpong);
        WarpSpecializedGemm problem;
        problem.pingpong = pingpong;
        Kernel kernel;
        warp_specialized_gemm(kernel, problem);
        check_example(kernel);
        const std::int64_t steps = problem.k_iterations();
        const std::vector<WorkItem> items{item_of(0, 0, 0, steps), item_of(2, 1, 0, steps),
                                          item_of(4, 2, 0, steps), item_of(6, 3, 0, steps)};
        const WalkTotals totals = walk_totals(kernel, items);
        const auto rows = static_cast<double>(problem.rows());
        CHECK(totals.matrix_flop == 4.0 * 2.0 * rows * 256 * 1024);
        CHECK(totals.traffic_of_buffer(0, Direction::read).inside_bytes == 4 * rows * 1024 * 2);
        CHECK(totals.traffic_of_buffer(1, Direction::read).inside_bytes == 4 * 128 * 1024 * 2);
        CHECK(totals.traffic_of_buffer(2, Direction::write).inside_bytes == 4 * rows * 256 * 2);
        CHECK(totals.instructions_of(InstructionClass::cp_async_bulk_tensor) == 4 * 2.0 * 16);
        const double groups = pingpong ? 1.0 : 2.0;
        CHECK(totals.instructions_of(InstructionClass::wgmma) == 4 * 16 * 4 * groups * 4);
        // wgmma reads 64 rows of A and all of B from shared memory, once for the four warps.
        CHECK(totals.traffic_of_buffer(3, Direction::read).inside_bytes == 4 * 16 * groups * 64 * 64 * 2);
        CHECK(totals.traffic_of_buffer(4, Direction::read).inside_bytes == 4 * 16 * groups * 64 * 256 * 2);
        CHECK(totals.tokens[0].arrivals == 4 * 16 * 2.0);
        CHECK(totals.tokens[0].waits == 4 * 16 * groups * 4);
        CHECK(totals.tokens[1].waits == 4 * 16 * 4.0);
        CHECK(totals.tokens[1].arrivals == 4 * 16 * groups * 4);
        CHECK(totals.tokens[3].waits == (pingpong ? 4 * 4 : 4 * 8));
    }
}

TEST_CASE("warp-specialized GEMM: the period in closed form") {
    for (const std::int32_t stages : {2, 3, 4, 7}) {
        for (const double load : {200.0, 900.0, 2500.0}) {
            for (const double product : {150.0, 300.0, 700.0}) {
                CAPTURE(stages);
                WarpSpecializedGemm problem;
                problem.stages = stages;
                Kernel kernel;
                warp_specialized_gemm(kernel, problem);
                auto issue = times(kernel);
                auto latency = times(kernel);
                issue[0] = issue[1] = 5.0;
                latency[0] = latency[1] = load;
                issue[3] = 128.0;
                latency[3] = product;
                EventTopology topology;
                const auto result = period(kernel, item_of(0, 0, 0, 16), issue, latency, topology);
                // A stage is released when the next product has been issued and its own product is complete.
                const double expected =
                    std::max({10.0, 128.0, product / 2.0, (5.0 + load + 128.0) / (stages - 1),
                              (5.0 + load + product) / stages});
                CHECK(result.ratio == doctest::Approx(expected));
                CHECK(!result.edges.empty());
                CHECK(!describe(kernel, topology, result.edges).empty());
            }
        }
    }
}

TEST_CASE("warp-specialized GEMM: filling takes a copy and a product; the critical cycle is named") {
    Kernel kernel;
    warp_specialized_gemm(kernel, {});
    auto issue = times(kernel);
    auto latency = times(kernel);
    issue[0] = issue[1] = 5.0;
    latency[0] = latency[1] = 2500.0;
    issue[3] = 128.0;
    latency[3] = 300.0;
    EventTopology topology;
    EventGraph graph;
    build_event_graph(kernel, item_of(0, 0, 0, 16), std::span<const double>(issue),
                      std::span<const double>(latency), topology, graph);
    const auto path = longest_path(graph);
    CHECK(path.length == 5.0 + 2500.0 + 300.0);
    const std::string words = describe(kernel, topology, max_cycle_ratio(graph).edges);
    CHECK(words.find("producer:wait empty") != std::string::npos);
    CHECK(words.find("consumer:signal empty") != std::string::npos);
    CHECK(words.find("cp_async_bulk_tensor") != std::string::npos);
}

TEST_CASE("one stage cannot hold two products: the graph and the walk both find the deadlock") {
    WarpSpecializedGemm problem;
    problem.stages = 1;
    Kernel kernel;
    warp_specialized_gemm(kernel, problem);
    EventTopology topology;
    CHECK_THROWS_WITH_AS(build_topology(kernel, item_of(0, 0, 0, 16), topology),
                         doctest::Contains("deadlock"), warptime::Error);
    CHECK_THROWS_WITH_AS((void)walk_totals(kernel, item_of(0, 0, 0, 16)), doctest::Contains("'empty'"),
                         warptime::Error);
}

}  // namespace
