// Index expressions against arithmetic, ids in the order of the calls, and bodies left or entered out of
// turn.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/builder.hpp"

#include "hw/error.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <functional>

namespace {

using namespace warptime::model::kernel;

/// Rounds towards minus infinity.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

void refuses(const std::function<void(Builder&)>& write) {
    Kernel kernel;
    kernel.name = "k";
    Builder build(kernel);
    CHECK_THROWS_AS(write(build), warptime::Error);
}

}  // namespace

TEST_CASE("index expressions are the arithmetic that they name") {
    rc::check([] {
        const auto number = [] { return *rc::gen::inRange<std::int64_t>(-50, 50); };
        const std::int64_t constant = number();
        const std::int64_t slope = number();
        const std::int64_t warp = *rc::gen::inRange<std::int64_t>(0, 32);
        const std::int64_t by = *rc::gen::inRange<std::int64_t>(1, 20);
        Kernel kernel;
        Builder build(kernel);
        const Index line = build.index(constant, {term(Variable::warp, slope)});
        Coordinates at;
        at.warp = warp;
        const std::int64_t value = constant + slope * warp;
        RC_ASSERT(evaluate(kernel, line, at) == value);
        RC_ASSERT(evaluate(kernel, build.floordiv(line, by), at) == floor_divide(value, by));
        RC_ASSERT(evaluate(kernel, build.modulo(line, by), at) == value - floor_divide(value, by) * by);
        RC_ASSERT(evaluate(kernel, build.scaled(line, by), at) == value * by);
        RC_ASSERT(evaluate(kernel, build.sum(line, line), at) == 2 * value);
        RC_ASSERT(evaluate(kernel, build.clamp(line, -10, 10), at) ==
                  std::min<std::int64_t>(10, std::max<std::int64_t>(-10, value)));
    });
}

TEST_CASE("records get ids in the order of the calls, and a loop owns what stands in it") {
    Kernel kernel;
    Builder build(kernel);
    CHECK(build.buffer(Buffer{}) == 0);
    CHECK(build.buffer(Buffer{}) == 1);
    build.role("warps", 2);
    build.loop(8);
    CHECK(build.op(Op{}) == 0);
    CHECK(build.op(Op{}) == 1);
    build.end();
    CHECK(build.op(Op{}) == 2);
    build.finish();
    REQUIRE(kernel.nodes.size() == 4);
    CHECK(kernel.nodes[0].kind == NodeKind::loop);
    CHECK(kernel.nodes[0].end == 3);
    CHECK(kernel.roles[0].first_node == 0);
    CHECK(kernel.roles[0].last_node == 4);
}

TEST_CASE("bodies cannot be left or entered out of turn") {
    refuses([](Builder& b) { b.op(Op{}); });
    refuses([](Builder& b) { b.loop(4); });
    refuses([](Builder& b) {
        b.role("warps", 1);
        b.end();
    });
    refuses([](Builder& b) {
        b.role("warps", 1);
        b.loop(4);
        b.finish();
    });
    refuses([](Builder& b) {
        b.role("warps", 1);
        for (int depth = 0; depth <= max_nesting; ++depth) b.loop(2);
    });
}
