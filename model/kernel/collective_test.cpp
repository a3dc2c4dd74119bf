// Boxes that the warps of a role move together count once, other boxes once a warp.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/collective.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/kernel/walk.hpp"

#include <doctest/doctest.h>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;

struct Case {
    Index column;  ///< of the origin
    bool elected = false;
    bool alternate = false;
    Space space = Space::global;
};

/// 3 warps x 2 instances load boxes of 64 B; returns the bytes of one item by the walk.
template <class Change>
double loaded(Change change) {
    Kernel kernel;
    kernel.cta = {192, 1, 1};
    kernel.static_shared = 4096;
    Builder build(kernel);
    Buffer buffer = matrix("x", Dtype::fp32, 1024, 1);
    Case c;
    change(build, c);
    buffer.space = c.space;
    const Id x = build.buffer(buffer);
    build.role("warps", 3, 2);
    if (c.alternate) {
        build.alternate();
    }
    Draft op = make_op(c.space == Space::global ? InstructionClass::ld_global : InstructionClass::ld_shared);
    if (c.elected) {
        elect_first_warp(build, op);
    }
    add_access(op, box(x, Direction::read, {c.column, Builder::constant(0)}, {16, 1}));
    add_op(build, op);
    build.finish();
    check(kernel);
    return walk_totals(kernel, WorkItem{}).traffic_of_buffer(x, Direction::read).inside_bytes;
}

TEST_CASE("a box without a warp term is moved once by the role") {
    CHECK(loaded([](Builder&, Case&) {}) == 64);
    CHECK(loaded([](Builder& b, Case& c) { c.column = b.variable(Variable::tile, 16); }) == 64);
    CHECK(loaded([](Builder&, Case& c) { c.alternate = true; }) == 64);
}

TEST_CASE("with an instance term, once by each instance") {
    CHECK(loaded([](Builder& b, Case& c) { c.column = b.variable(Variable::instance, 16); }) == 2 * 64);
}

TEST_CASE("with a warp or thread term, also inside a nested expression, by each warp") {
    CHECK(loaded([](Builder& b, Case& c) { c.column = b.variable(Variable::warp, 16); }) == 6 * 64);
    CHECK(loaded([](Builder& b, Case& c) { c.column = b.variable(Variable::thread_x, 1); }) == 6 * 64);
    CHECK(loaded([](Builder& b, Case& c) {
              c.column = b.floordiv(b.sum(b.variable(Variable::warp), Builder::constant(3)), 2);
          }) == 6 * 64);
}

TEST_CASE("an elected warp moves its own, in each instance") {
    CHECK(loaded([](Builder&, Case& c) { c.elected = true; }) == 2 * 64);
}

TEST_CASE("a box of shared memory is read by each warp into its registers") {
    CHECK(loaded([](Builder&, Case& c) { c.space = Space::shared; }) == 6 * 64);
}

}  // namespace
