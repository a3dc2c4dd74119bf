// FlashAttention-3 as a description: causal trips, turns between two warpgroups, and the period in two
// regimes.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/examples/check_example.hpp"
#include "model/kernel/examples/flash_attention.hpp"
#include "model/kernel/walk.hpp"
#include "model/steady/cycle_ratio.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <utility>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;

TEST_CASE("attention: each row block does the key blocks up to its diagonal") {
    Kernel kernel;
    flash_attention(kernel, {});
    check_example(kernel);
    for (std::int64_t block = 0; block < 4; ++block) {
        const WalkTotals totals = walk_totals(kernel, item_of(block, 0, 1));
        const auto keys = static_cast<double>(block + 1);
        CHECK(totals.matrix_flop == keys * 2 * 2.0 * 128 * 128 * 128);
        const double operand = 128 * 128 * 2;
        CHECK(totals.traffic_of_buffer(0, Direction::read).inside_bytes == operand);
        CHECK(totals.traffic_of_buffer(1, Direction::read).inside_bytes == keys * operand);
        CHECK(totals.traffic_of_buffer(2, Direction::read).inside_bytes == keys * operand);
        CHECK(totals.traffic_of_buffer(3, Direction::write).inside_bytes == operand);
        // 64 exponentials a thread and key block, on 8 warps.
        CHECK(totals.instructions_of(InstructionClass::mufu) == keys * 64 * 8);
        CHECK(totals.tokens[1].waits == keys * 8);
        CHECK(totals.tokens[3].arrivals == keys * 8);
        CHECK(totals.tokens[7].waits == (keys - 1) * 8);
    }
}

/// Records the order in which the warpgroups pass the barrier of turns.
class Turns : public WalkVisitor {
  public:
    void on_wait(const WalkPlace& place, Id token, std::int64_t phase) override {
        if (token == 7 && place.warp == 0) {
            order.emplace_back(phase, place.instance);
        }
    }
    std::vector<std::pair<std::int64_t, int>> order;
};

TEST_CASE("attention: the warpgroups pass the barrier in turn") {
    Kernel kernel;
    flash_attention(kernel, {});
    const std::vector<WorkItem> items{item_of(3)};
    Turns turns;
    walk(kernel, items, turns);
    REQUIRE(turns.order.size() == 6);
    std::sort(turns.order.begin(), turns.order.end());
    for (std::size_t i = 0; i < turns.order.size(); ++i) {
        CHECK(turns.order[i].first == static_cast<std::int64_t>(i));
        CHECK(turns.order[i].second == static_cast<int>(i % 2));
    }
}

TEST_CASE("attention: the period is two turns of products, or one warpgroup's own chain") {
    Kernel kernel;
    const FlashAttentionOps ids = flash_attention(kernel, {});
    const auto at = [](Id op) { return static_cast<std::size_t>(op); };
    for (const double softmax : {100.0, 600.0, 2000.0}) {
        auto issue = times(kernel);
        auto latency = times(kernel);
        issue[at(ids.copy_k)] = issue[at(ids.copy_v)] = 4.0;
        latency[at(ids.copy_k)] = latency[at(ids.copy_v)] = 300.0;
        issue[at(ids.scores)] = issue[at(ids.output)] = 512.0;
        latency[at(ids.scores)] = latency[at(ids.output)] = 560.0;
        issue[at(ids.softmax)] = softmax;
        issue[at(ids.rescale)] = 64.0;
        EventTopology topology;
        EventGraph graph;
        build_event_graph(kernel, item_of(3), std::span<const double>(issue),
                          std::span<const double>(latency), topology, graph);
        const double products = 2 * (512.0 + 512.0);
        // One warpgroup alone: both products issued, softmax of the first, the second complete, rescaling.
        const double chain = std::max(1024.0 + softmax, 512.0 + 560.0) + 64.0;
        const auto result = max_cycle_ratio(graph);
        CHECK(result.ratio == doctest::Approx(std::max(products, chain)));
    }
}

}  // namespace
