// Phases and groups in time: rings, turns, commits, and waits for unknown times.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/tokens.hpp"

#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace mk = warptime::model::kernel;
namespace examples = warptime::model::kernel::examples;
using hw = warptime::hw::InstructionClass;
using namespace warptime::model::simulation;

namespace {

/// Two warps that each arrive `per_phase` times a trip at a token for `arrivals`.
struct Fixture {
    Fixture(mk::Token token, int per_trip, bool by_op) {
        kernel.cta = {64, 1, 1};
        mk::Builder build(kernel);
        const mk::Id id = build.token(token);
        build.role("warps", 2);
        build.loop(8);
        for (int i = 0; i < per_trip; ++i) {
            examples::add_op(build, examples::make_op(hw::cp_async, 1, {}, by_op ? id : mk::no_id));
        }
        build.signal(id);
        build.end();
        build.finish();
    }
    mk::Kernel kernel;
};

constexpr TokenUser first{0, 0, 1};
constexpr TokenUser second{1, 0, 1};

}  // namespace

TEST_CASE("a phase is complete at the latest of its arrivals, known when the last is entered") {
    const Fixture f(examples::token("t", mk::TokenKind::mbarrier, mk::Scope::cta, 2, 2, 1), 0, false);
    const TokenRules rules(f.kernel, mk::WorkItem{});
    Tokens tokens(f.kernel, rules);
    const mk::Wait wait{0, 0};
    std::vector<std::uint32_t> woken;
    CHECK(tokens.passes_at(first, wait) == 0);  // the initial phase
    tokens.pass(first, 0);
    tokens.arrive(first, 0, 50, true, true, woken);
    CHECK_FALSE(tokens.passes_at(first, wait));
    // A warp that is ahead fills the next phase, not its neighbour's share of this one.
    tokens.arrive(first, 0, 60, true, true, woken);
    CHECK_FALSE(tokens.passes_at(first, wait));
    tokens.await(first, wait, 17);
    tokens.arrive(second, 0, 40, true, true, woken);
    CHECK(woken == std::vector<std::uint32_t>{17});
    CHECK(tokens.passes_at(first, wait) == 50);
    tokens.pass(first, 0);
    CHECK_FALSE(tokens.passes_at(first, wait));
    tokens.arrive(second, 0, 90, true, true, woken);
    CHECK(tokens.passes_at(first, wait) == 90);
    tokens.restart();
    CHECK(tokens.passes_at(first, wait) == 0);
}

TEST_CASE("a signal commits the copies since the last one as a group; waits count groups of the own warp") {
    const Fixture f(examples::token("g", mk::TokenKind::async_group, mk::Scope::warp, 1, 3), 2, true);
    const TokenRules rules(f.kernel, mk::WorkItem{});
    CHECK(rules.use(0, 0).commits);
    Tokens tokens(f.kernel, rules);
    std::vector<std::uint32_t> woken;
    const auto group = [&](Ticks a, Ticks b) {
        tokens.arrive(first, 0, a, true, false, woken);
        tokens.arrive(first, 0, b, true, false, woken);
        tokens.arrive(first, 0, 0, true, true, woken);
    };
    CHECK(tokens.passes_at(first, {0, 0}) == 0);
    group(100, 70);
    group(80, 90);  // complete, but not before the first group
    group(200, 10);
    CHECK(tokens.passes_at(first, {0, 0}) == 200);
    CHECK(tokens.passes_at(first, {0, 1}) == 100);
    CHECK(tokens.passes_at(first, {0, 2}) == 100);
    CHECK(tokens.passes_at(first, {0, 3}) == 0);
    CHECK(tokens.passes_at(second, {0, 0}) == 0);
}

TEST_CASE("many phases later the first ones are forgotten, not the last ones") {
    const Fixture f(examples::token("t", mk::TokenKind::mbarrier, mk::Scope::cta, 2), 0, false);
    const TokenRules rules(f.kernel, mk::WorkItem{});
    Tokens tokens(f.kernel, rules);
    std::vector<std::uint32_t> woken;
    for (Ticks i = 0; i < 10000; ++i) {
        CHECK_FALSE(tokens.passes_at(first, {0, 0}));
        tokens.arrive(first, 0, 10 * i, true, true, woken);
        tokens.arrive(second, 0, 10 * i + 1, true, true, woken);
        REQUIRE(tokens.passes_at(first, {0, 0}) == 10 * i + 1);
        tokens.pass(first, 0);
    }
}
