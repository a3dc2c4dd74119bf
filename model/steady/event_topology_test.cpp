// Choice of the main loop; edges of inner loops, deps and tokens; and loops that cannot move.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/event_topology.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/steady/cycle_ratio.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <vector>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;

double period(const Kernel& kernel, const std::vector<double>& issue, const std::vector<double>& latency,
              EventTopology& topology) {
    check(kernel);
    EventGraph graph;
    build_event_graph(kernel, WorkItem{}, std::span<const double>(issue), std::span<const double>(latency),
                      topology, graph);
    return max_cycle_ratio(graph).ratio;
}

Kernel one_warp(const char* name) {
    Kernel kernel;
    kernel.name = name;
    kernel.cta = {32, 1, 1};
    return kernel;
}

TEST_CASE("a dep over d iterations lets d of them overlap") {
    for (const int distance : {1, 2, 5}) {
        Kernel kernel = one_warp("overlap");
        Builder build(kernel);
        build.role("warp", 1);
        build.loop(100);
        build.op(make_op(InstructionClass::fma_f32, 1, {{0, distance}}));
        build.end();
        build.finish();
        EventTopology topology;
        CHECK(period(kernel, {2.0}, {30.0}, topology) == std::max(2.0, 30.0 / distance));
        CHECK(topology.loops[0].trips == 100);
        CHECK(topology.nodes.size() == 1);
    }
}

TEST_CASE("short inner loops are unfolded, long ones stand for all their trips") {
    for (const std::int64_t inner : {1, 4, 8, 9, 40}) {
        Kernel kernel = one_warp("nested");
        Builder build(kernel);
        build.role("warp", 1);
        build.loop(100);
        build.op(make_op(InstructionClass::ld_global, 1000));
        build.loop(inner);
        build.op(make_op(InstructionClass::fma_f32, 1, {{1, 1}}));
        build.end();
        build.end();
        build.finish();
        EventTopology topology;
        const auto trips = static_cast<double>(inner);
        // A chain of sums through all inner iterations, carried from one outer iteration to the next.
        CHECK(period(kernel, {20.0, 2.0}, {20.0, 30.0}, topology) ==
              doctest::Approx(trips * 30.0).epsilon(1e-12));
        // A preceding long load is paid in full; a folded loop leaves out its last issue.
        const double last_issue = inner <= 8 ? 2.0 : 0.0;
        CHECK(period(kernel, {2000.0, 2.0}, {20.0, 30.0}, topology) ==
              doctest::Approx(2000.0 + 30.0 * (trips - 1.0) + last_issue));
        CHECK(topology.nodes.size() == (inner <= 8 ? 1 + static_cast<std::size_t>(inner) : 2));
    }
}

TEST_CASE("an inner loop with most of the work is the main loop") {
    Kernel kernel = one_warp("rows");
    Builder build(kernel);
    build.role("warp", 1);
    build.loop(10);
    build.op(make_op(InstructionClass::ld_global));
    build.loop(500);
    build.op(make_op(InstructionClass::fma_f32, 1, {{1, 1}}));
    build.end();
    build.end();
    build.finish();
    EventTopology topology;
    CHECK(period(kernel, {1.0, 1.0}, {500.0, 4.0}, topology) == 4.0);
    CHECK(topology.loops[0].trips == 500);
    CHECK(topology.loops[0].node == 2);
}

TEST_CASE("loops that use a token at different rates meet after a common number of iterations") {
    Kernel kernel = one_warp("rates");
    kernel.cta.x = 64;
    Builder build(kernel);
    const Id full = build.token(token("full", TokenKind::mbarrier, Scope::cta, 1, 4, 0, TokenKey::stage));
    const Id empty = build.token(token("empty", TokenKind::mbarrier, Scope::cta, 1, 4, 4, TokenKey::stage));
    build.role("producer", 1);
    build.loop(100);
    build.wait(empty);
    build.op(make_op(InstructionClass::cp_async_bulk_tensor, 1, {}, full));
    build.end();
    build.role("consumer", 1);
    build.loop(50);
    for (int i = 0; i < 2; ++i) {
        build.wait(full);
        build.op(make_op(InstructionClass::fma_f32));
        build.signal(empty);
    }
    build.end();
    build.finish();
    EventTopology topology;
    // 4 stages in flight, 2 used in an iteration of the consumer: the latency is paid every second iteration.
    CHECK(period(kernel, {1.0, 10.0, 10.0}, {790.0, 10.0, 10.0}, topology) == doctest::Approx(800.0 / 2));
    CHECK(topology.loops[0].copies == 2);
    CHECK(topology.loops[1].copies == 1);
    CHECK(period(kernel, {1.0, 10.0, 10.0}, {5.0, 10.0, 10.0}, topology) == doctest::Approx(20.0));
}

TEST_CASE("groups with a lag leave that many copies in flight") {
    for (const int lag : {0, 1, 3}) {
        Kernel kernel = one_warp("groups");
        Builder build(kernel);
        const Id group = build.token(token("group", TokenKind::async_group, Scope::warp, 1, 4));
        build.role("warp", 1);
        build.loop(100);
        build.op(make_op(InstructionClass::cp_async, 1, {}, group));
        build.wait(group, lag);
        build.op(make_op(InstructionClass::fma_f32));
        build.end();
        build.finish();
        EventTopology topology;
        CHECK(period(kernel, {4.0, 16.0}, {900.0, 4.0}, topology) ==
              doctest::Approx(std::max(20.0, (900.0 + 16.0 + 0.0) / (lag + 1))));
    }
}

TEST_CASE("a signal on completion waits for the ops before it, one on issue does not") {
    for (const SignalOn on : {SignalOn::issue, SignalOn::completion}) {
        Kernel kernel = one_warp("signal");
        kernel.cta.x = 64;
        Builder build(kernel);
        const Id ready = build.token(token("ready", TokenKind::mbarrier, Scope::cta, 1));
        const Id done = build.token(token("done", TokenKind::mbarrier, Scope::cta, 1, 1, 1));
        build.role("one", 1);
        build.loop(100);
        build.wait(done);
        build.op(make_op(InstructionClass::ld_global));
        build.signal(ready, on);
        build.end();
        build.role("two", 1);
        build.loop(100);
        build.wait(ready);
        build.op(make_op(InstructionClass::fma_f32));
        build.signal(done);
        build.end();
        build.finish();
        EventTopology topology;
        CHECK(period(kernel, {3.0, 7.0}, {400.0, 7.0}, topology) ==
              (on == SignalOn::issue ? 3.0 + 7.0 : 400.0 + 7.0));
    }
}

TEST_CASE("roles that wait for each other cannot move; the error names their tokens") {
    Kernel kernel = one_warp("crossed");
    kernel.cta.x = 64;
    Builder build(kernel);
    const Id left = build.token(token("left", TokenKind::mbarrier, Scope::cta, 1));
    const Id right = build.token(token("right", TokenKind::mbarrier, Scope::cta, 1));
    for (const auto& [mine, theirs] : {std::pair{left, right}, std::pair{right, left}}) {
        build.role(mine == left ? "one" : "two", 1);
        build.loop(100);
        build.wait(mine);
        build.op(make_op(InstructionClass::fma_f32));
        build.signal(theirs);
        build.end();
    }
    build.finish();
    EventTopology topology;
    CHECK_THROWS_WITH_AS(build_topology(kernel, WorkItem{}, topology),
                         doctest::Contains("deadlock: one:wait left, two:wait right"), warptime::Error);
}

TEST_CASE("a body of any number of ops is a graph, and its chain is the period") {
    for (const int length : {97, 5000}) {
        Kernel kernel = one_warp("large");
        Builder build(kernel);
        build.role("warp", 1);
        build.loop(20);
        for (int i = 0; i < length; ++i) {
            build.op(make_op(InstructionClass::fma_f32));
            build.dep({i == 0 ? length - 1 : i - 1, i == 0 ? 1 : 0});
        }
        build.end();
        build.finish();
        EventTopology topology;
        const std::vector<double> issue(static_cast<std::size_t>(length), 2.0);
        const std::vector<double> latency(static_cast<std::size_t>(length), 30.0);
        CHECK(period(kernel, issue, latency, topology) == 30.0 * length);
        CHECK(topology.nodes.size() == static_cast<std::size_t>(length));
    }
}

TEST_CASE("an op waits for each of its deps, beyond the fourth as well") {
    for (int slow = 0; slow < 7; ++slow) {
        Kernel kernel = one_warp("many");
        Builder build(kernel);
        build.role("warp", 1);
        build.loop(20);
        for (int i = 0; i < 7; ++i) {
            build.op(make_op(InstructionClass::mufu));
            build.dep({7, 1});
        }
        build.op(make_op(InstructionClass::fma_f32));
        for (int i = 0; i < 7; ++i) build.dep({i, 0});
        build.end();
        build.finish();
        std::vector<double> latency(8, 10.0);
        latency[static_cast<std::size_t>(slow)] = 500.0;
        EventTopology topology;
        CHECK(period(kernel, std::vector<double>(8, 1.0), latency, topology) == 510.0 + slow);
    }
}

TEST_CASE("several groups of an iteration complete first in, first out") {
    // Two groups a trip. The wait leaves one in flight, so it waits for the first of this trip and for both
    // of the trip before.
    for (const bool slow_first : {true, false}) {
        Kernel kernel = one_warp("groups");
        Builder build(kernel);
        const Id group = build.token(token("group", TokenKind::async_group, Scope::warp, 1, 4));
        build.role("warp", 1);
        build.loop(100);
        build.op(make_op(InstructionClass::cp_async, 1, {}, group));
        build.op(make_op(InstructionClass::cp_async, 1, {}, group));
        build.wait(group, 1);
        build.op(make_op(InstructionClass::fma_f32));
        build.end();
        build.finish();
        EventTopology topology;
        const double first = slow_first ? 900.0 : 40.0;
        const double second = slow_first ? 40.0 : 900.0;
        // The first group of this trip; or the second of the trip before, which gives two trips for its copy,
        // the arithmetic and the copy before it.
        const double expected = slow_first ? 900.0 + 16.0 : (900.0 + 16.0 + 4.0) / 2.0;
        CHECK(period(kernel, {4.0, 4.0, 16.0}, {first, second, 4.0}, topology) == expected);
    }
}

TEST_CASE("loops of more than eight roles and thirty-two tokens are followed") {
    constexpr int roles = 12;
    Kernel kernel = one_warp("ring");
    kernel.cta.x = 32 * roles;
    Builder build(kernel);
    std::vector<Id> tokens;
    for (int i = 0; i < 3 * roles; ++i) {
        // A ring of roles; each waits for what the one before has done, the first for the trip before.
        tokens.push_back(build.token(token("next", TokenKind::mbarrier, Scope::cta, 1, 1, i == 0 ? 1 : 0)));
    }
    for (int r = 0; r < roles; ++r) {
        build.role("role", 1);
        build.loop(100);
        for (int i = 0; i < 3; ++i) {
            const int at = i * roles + r;
            build.wait(tokens[static_cast<std::size_t>(at)]);
            build.op(make_op(InstructionClass::fma_f32));
            build.signal(tokens[static_cast<std::size_t>((at + 1) % (3 * roles))]);
        }
        build.end();
    }
    build.finish();
    EventTopology topology;
    const std::vector<double> issue(static_cast<std::size_t>(3 * roles), 10.0);
    CHECK(period(kernel, issue, issue, topology) == 10.0 * 3 * roles);
    CHECK(topology.loops.size() == roles);
}

}  // namespace
