// Chase, softmax, histogram and traced kernel as descriptions: totals and periods.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/examples/check_example.hpp"
#include "model/kernel/examples/small_kernels.hpp"
#include "model/kernel/walk.hpp"
#include "model/steady/cycle_ratio.hpp"

#include <doctest/doctest.h>

#include <span>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;

CycleRatio period(const Kernel& kernel, const std::vector<double>& issue,
                  const std::vector<double>& latency) {
    EventTopology topology;
    EventGraph graph;
    build_event_graph(kernel, WorkItem{}, std::span<const double>(issue), std::span<const double>(latency),
                      topology, graph);
    return max_cycle_ratio(graph);
}

/// Counts ops between two marks.
class MarkedOps : public WalkVisitor {
  public:
    void on_op(const WalkPlace& /*place*/, Id /*op*/, std::int64_t /*execution*/) override {
        ops += inside ? 1 : 0;
    }
    void on_mark(const WalkPlace& /*place*/, const Name& name) override { inside = name.view() == "begin"; }
    bool inside = false;
    int ops = 0;
};

TEST_CASE("pointer chase: the marked region holds the steps, each as long as a load") {
    Kernel kernel;
    pointer_chase(kernel, 1 << 20, 1000);
    check_example(kernel);
    MarkedOps marked;
    const std::vector<WorkItem> items{WorkItem{}};
    walk(kernel, items, marked);
    CHECK(marked.ops == 1000);
    const WalkTotals totals = walk_totals(kernel, WorkItem{});
    CHECK(totals.all_instructions() == 8192 + 1000);
    CHECK(totals.traffic(Space::global, Direction::read).requested_bytes == (8192 + 1000) * 8);
    auto issue = times(kernel);
    auto latency = times(kernel);
    issue = {1.0, 1.0};
    latency = {273.0, 273.0};
    const auto result = period(kernel, issue, latency);
    CHECK(result.ratio == 273.0);
    CHECK(result.edges.size() == 1);
}

TEST_CASE("softmax: a row is read once and written once; without a loop there is no period") {
    Kernel kernel;
    for (const std::int64_t columns : {4096, 4000, 1000}) {
        softmax(kernel, 8, columns);
        check_example(kernel);
        const WalkTotals totals = walk_totals(kernel, item_of(7));
        CHECK(totals.traffic(Space::global, Direction::read).inside_bytes ==
              static_cast<double>(columns * 2));
        CHECK(totals.traffic(Space::global, Direction::write).inside_bytes ==
              static_cast<double>(columns * 2));
        const std::int64_t rounds = (columns + 2047) / 2048;
        const auto loads = static_cast<double>(rounds);
        CHECK(totals.traffic(Space::global, Direction::read).requested_bytes == loads * 4096);
        CHECK(totals.instructions_of(InstructionClass::mufu) == loads * 8 * 8);
        CHECK(totals.instructions_of(InstructionClass::shfl) == 2 * 5 * 8);
        CHECK(totals.vector_flop == (loads * 8 * 8) * 32 * 2);
        CHECK(totals.tokens[0].arrivals == 2 * 8);
        CHECK(totals.traffic(Space::shared, Direction::read).requested_bytes == 2 * 8 * 32 * 4);
    }
    CHECK(period(kernel, times(kernel), times(kernel)).ratio == 0.0);
}

TEST_CASE("histogram: every element is read and counted once, the bins added once by each CTA") {
    Kernel kernel;
    histogram(kernel, 100000, 4096);
    check_example(kernel);
    double read = 0.0;
    for (std::int64_t cta = 0; cta < kernel.grid.x; ++cta) {
        const WalkTotals totals = walk_totals(kernel, item_of(cta));
        read += totals.traffic_of_buffer(0, Direction::read).inside_bytes;
        CHECK(totals.traffic(Space::shared, Direction::atomic).requested_bytes == 4096 * 4);
        CHECK(totals.instructions_of(InstructionClass::atom_shared) == 4096 / 32);
        CHECK(totals.traffic_of_buffer(1, Direction::atomic).inside_bytes == 256 * 4);
        CHECK(totals.traffic_of_buffer(2, Direction::read).inside_bytes == 256 * 4);
    }
    CHECK(read == 100000 * 4);
    auto issue = times(kernel);
    auto latency = times(kernel);
    issue = {2.0, 4.0, 1.0, 1.0};
    latency = {600.0, 60.0, 1.0, 1.0};
    // A warp waits for its load before it counts: nothing overlaps within the warp.
    CHECK(period(kernel, issue, latency).ratio == 600.0 + 4.0);
}

TEST_CASE("traced kernel: trips are the rounded mean, addresses follow the recorded runs") {
    Kernel kernel;
    traced_kernel(kernel);
    check_example(kernel);
    const WalkTotals totals = walk_totals(kernel, item_of(3));
    CHECK(totals.instructions_of(InstructionClass::fma_f32) == 12 * 2);
    CHECK(totals.instructions_of(InstructionClass::branch) == 3 * 2);
    CHECK(totals.instructions_of(InstructionClass::add_f32) == 2 * 0.5 * 2);
    // Of 12 accesses in runs of 4 full and 2 half warps, 8 are full.
    CHECK(totals.traffic_of_buffer(0, Direction::read).requested_bytes == 2 * (8 * 32 + 4 * 16) * 4);
    CHECK(totals.traffic_of_buffer(1, Direction::read).inside_bytes == 2 * 12 * 24 * 4);
    CHECK(totals.vector_flop == 12 * 2 * 64 * 0.75 + 2 * 0.5 * 2 * 32 * 0.5);
}

}  // namespace
