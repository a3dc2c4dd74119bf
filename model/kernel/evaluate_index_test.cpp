// Index expressions against the same arithmetic written out by hand, and against Python's rounding.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/evaluate_index.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace {

using namespace warptime::model::kernel;

Coordinates somewhere() {
    Coordinates at;
    at.tile[0] = 3;
    at.tile[1] = 5;
    at.item_begin = 7;
    at.item_end = 11;
    at.problem = 13;
    at.cta_rank = 17;
    at.warp = 19;
    at.thread[0] = 23;
    at.thread[1] = 29;
    at.thread[2] = 31;
    at.instance = 37;
    at.loop[0] = 41;
    at.loop[7] = 43;
    return at;
}

TEST_CASE("every variable reads its own coordinate") {
    Kernel kernel;
    Builder build(kernel);
    const auto value = [&](Variable variable, std::uint16_t position = 0) {
        return evaluate(kernel, build.variable(variable, 1, position), somewhere());
    };
    CHECK(value(Variable::tile) == 3);
    CHECK(value(Variable::tile, 1) == 5);
    CHECK(value(Variable::item_begin) == 7);
    CHECK(value(Variable::item_end) == 11);
    CHECK(value(Variable::problem) == 13);
    CHECK(value(Variable::cta_rank) == 17);
    CHECK(value(Variable::warp) == 19);
    CHECK(value(Variable::thread_x) == 23);
    CHECK(value(Variable::thread_y) == 29);
    CHECK(value(Variable::thread_z) == 31);
    CHECK(value(Variable::instance) == 37);
    CHECK(value(Variable::loop) == 41);
    CHECK(value(Variable::loop, 7) == 43);
}

TEST_CASE("sums, scaling and nested expressions compose") {
    Kernel kernel;
    Builder build(kernel);
    const Index a = build.index(2, {term(Variable::tile, 128), term(Variable::loop, -64, 7)});
    const Index b = build.index(1, {term(Variable::warp, 4)});
    const auto at = somewhere();
    const std::int64_t va = 2 + 128 * 3 - 64 * 43;
    const std::int64_t vb = 1 + 4 * 19;
    CHECK(evaluate(kernel, build.sum(a, b), at) == va + vb);
    CHECK(evaluate(kernel, build.scaled(a, -3), at) == -3 * va);
    CHECK(evaluate(kernel, build.sum(a, Builder::constant(9)), at) == va + 9);
    CHECK(evaluate(kernel, build.sum(Builder::constant(9), b), at) == vb + 9);
    CHECK(evaluate(kernel, build.clamp(a, -10, 10), at) == -10);
    CHECK(evaluate(kernel, build.modulo(build.floordiv(b, 8), 4), at) == (vb / 8) % 4);
    CHECK(build.floordiv(Builder::constant(-1), 8).constant == -1);
    CHECK(build.modulo(Builder::constant(-1), 8).constant == 7);
    CHECK_THROWS_AS((void)build.floordiv(a, 0), warptime::Error);
    CHECK_THROWS_AS((void)build.modulo(a, -2), warptime::Error);
    CHECK_THROWS_AS((void)build.clamp(a, 2, 1), warptime::Error);
}

TEST_CASE("division and remainder round towards minus infinity") {
    CHECK(rc::check("floor of the real quotient, and quotient * b + rest gives the number back", [] {
        const std::int64_t a = *rc::gen::inRange<std::int64_t>(-100000, 100000);
        const std::int64_t b = *rc::gen::inRange<std::int64_t>(1, 1000);
        Kernel kernel;
        Builder build(kernel);
        Coordinates at;
        at.tile[0] = a;
        const Index x = build.variable(Variable::tile);
        const std::int64_t quotient = evaluate(kernel, build.floordiv(x, b), at);
        const std::int64_t rest = evaluate(kernel, build.modulo(x, b), at);
        RC_ASSERT(quotient ==
                  static_cast<std::int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
        RC_ASSERT(quotient * b + rest == a);
        RC_ASSERT(rest >= 0);
        RC_ASSERT(rest < b);
    }));
}

}  // namespace
