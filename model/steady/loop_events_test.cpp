// Main loop of a role, events of one of its iterations, and phases that its tokens count.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/loop_events.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;
using detail::find_loop_events;
using detail::LoopEvents;

std::unique_ptr<LoopEvents> events_of(const Kernel& kernel) {
    check(kernel);
    auto events = std::make_unique<LoopEvents>();
    find_loop_events(kernel, WorkItem{}, *events);
    return events;
}

Kernel one_warp() {
    Kernel kernel;
    kernel.name = "k";
    kernel.cta = {32, 1, 1};
    return kernel;
}

}  // namespace

TEST_CASE("the loop with most work is the main one, and its body the iteration") {
    Kernel kernel = one_warp();
    Builder build(kernel);
    build.role("warp", 1);
    build.loop(3);
    build.op(make_op(InstructionClass::fma_f32));
    build.end();
    build.loop(50);
    build.op(make_op(InstructionClass::fma_f32));
    build.op(make_op(InstructionClass::mufu));
    build.end();
    build.finish();
    const auto events = events_of(kernel);
    REQUIRE(events->loops.size() == 1);
    CHECK(events->loops[0].trips == 50);
    REQUIRE(events->loops[0].leaf_count == 2);
    CHECK(events->leaf(events->loops[0], 0).payload == 1);
    CHECK(events->leaf(events->loops[0], 1).payload == 2);
}

TEST_CASE("short inner loops are unfolded, a long one is the main loop itself") {
    const auto nest = [](std::int64_t inner) {
        Kernel kernel = one_warp();
        Builder build(kernel);
        build.role("warp", 1);
        build.loop(1000);
        build.op(make_op(InstructionClass::mufu));
        build.loop(inner);
        build.op(make_op(InstructionClass::fma_f32));
        build.end();
        build.end();
        build.finish();
        return events_of(kernel);
    };
    for (const std::int64_t inner : {1, 4, 8}) {
        const auto events = nest(inner);
        CHECK(events->loops[0].trips == 1000);
        CHECK(events->loops[0].leaf_count == static_cast<std::size_t>(1 + inner));
        CHECK(events->leaf(events->loops[0], 1).runs == inner);
    }
    const auto events = nest(100);
    CHECK(events->loops[0].trips == 100);
    CHECK(events->loops[0].leaf_count == 1);
}

TEST_CASE("an iteration's waits and phases of a token are counted, and those of the prologue apart") {
    Kernel kernel = one_warp();
    Builder build(kernel);
    Token token;
    token.name = "group";
    token.kind = TokenKind::async_group;
    token.scope = Scope::warp;
    token.depth = 3;
    const Id group = build.token(token);
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 1 << 20));
    Access access;
    access.buffer = x;
    access.bytes = 16;
    build.role("warp", 1);
    for (int stage = 0; stage < 2; ++stage) {
        build.op(make_op(InstructionClass::cp_async, 1, {}, group), {access});
    }
    build.loop(64);
    build.wait(group, 1);
    build.op(make_op(InstructionClass::cp_async, 1, {}, group), {access});
    build.end();
    build.finish();
    const auto events = events_of(kernel);
    REQUIRE(events->loops.size() == 1);
    const detail::TokenCount& count = events->loops[0].tokens[0];
    CHECK(count.waits == 1);
    CHECK(count.phases == 1);
    CHECK(count.waits_before == 0);
    CHECK(count.phases_before == 2);
}

TEST_CASE("a role without a loop has no events, and a loop may have any number") {
    Kernel straight = one_warp();
    Builder build(straight);
    build.role("warp", 1);
    build.op(make_op(InstructionClass::fma_f32));
    build.finish();
    CHECK(events_of(straight)->loops.empty());

    Kernel crowded = one_warp();
    Builder many(crowded);
    many.role("warp", 1);
    many.loop(10);
    for (int i = 0; i < 10000; ++i) many.op(make_op(InstructionClass::fma_f32));
    many.end();
    many.finish();
    const auto events = events_of(crowded);
    REQUIRE(events->loops.size() == 1);
    CHECK(events->loops[0].leaf_count == 10000);
    CHECK(events->leaf(events->loops[0], 9999).payload == 9999);
}
