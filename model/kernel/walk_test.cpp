// Reference walk: closed forms of random kernels, phases of tokens, deadlocks, clipping.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/walk.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/random_kernel.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;

TEST_CASE("instructions are counts times the trips, warps and shares of branches around them") {
    CHECK(rc::check("random nesting", [] {
        const auto random = RandomKernelMaker().make();
        const WalkTotals totals = walk_totals(random.kernel, WorkItem{});
        for (std::size_t c = 0; c < random.instructions.size(); ++c) {
            RC_ASSERT(std::abs(totals.instructions[c] - random.instructions[c]) <=
                      1e-9 * (1.0 + random.instructions[c]));
        }
        for (const AccessTotals& access : totals.accesses) {
            RC_ASSERT(access.traffic.inside_bytes <= access.traffic.requested_bytes * (1.0 + 1e-12));
        }
    }));
}

TEST_CASE("a predicated op always issues, and moves and computes in its share of the executions") {
    Kernel kernel;
    kernel.cta = {64, 1, 1};
    Builder build(kernel);
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 1 << 20));
    build.role("warps", 2);
    build.loop(10);
    Op load = make_op(InstructionClass::ld_global);
    load.enabled = 0.25;
    build.op(load, {lanes(x, Direction::read, Builder::constant(0), 4)});
    Op sum = make_op(InstructionClass::add_f32);
    sum.enabled = 0.5;
    build.op(sum);
    build.end();
    build.finish();
    check(kernel);
    const WalkTotals totals = walk_totals(kernel, WorkItem{});
    CHECK(totals.instructions_of(InstructionClass::ld_global) == 20.0);
    CHECK(totals.instructions_of(InstructionClass::add_f32) == 20.0);
    CHECK(totals.vector_flop == 20.0 * 0.5 * 32.0);
    const Traffic read = totals.traffic(Space::global, Direction::read);
    CHECK(read.requests == 20.0 * 0.25);
    CHECK(read.inside_bytes == 20.0 * 0.25 * 128.0);
}

TEST_CASE("lanes follow the trips: the sums of a tree, whose additions halve from step to step") {
    // for (int s = 128; s > 0; s >>= 1) if (thread < s) sum[thread] += sum[thread + s];
    for (const bool by_branch : {false, true}) {
        Kernel kernel;
        kernel.cta = {256, 1, 1};
        Builder build(kernel);
        const Id x = build.buffer(vector_of("x", Dtype::fp32, 1 << 20));
        build.role("warps", 8);
        build.loop(8);
        const Index threads =
            build.power(build.sum(Builder::constant(7), build.variable(Variable::loop, -1)));
        const Index of_warp = build.sum(threads, build.variable(Variable::warp, -32));
        if (by_branch) {
            build.branch({});
            build.lanes(of_warp);
        }
        build.op(make_op(InstructionClass::add_f32), {lanes(x, Direction::read, Builder::constant(0), 4)});
        if (by_branch) {
            build.end();
        } else {
            build.lanes(of_warp);
        }
        build.end();
        build.finish();
        check(kernel);
        const WalkTotals totals = walk_totals(kernel, WorkItem{});
        CHECK(totals.vector_flop == 255.0);
        CHECK(totals.traffic(Space::global, Direction::read).inside_bytes == 255.0 * 4.0);
        // 4 + 2 + 1 + 5 x 1 warps have a thread that adds; without a branch all eight issue each time.
        const double issued = by_branch ? 12.0 : 64.0;
        CHECK(totals.instructions_of(InstructionClass::add_f32) == issued);
        CHECK(totals.traffic(Space::global, Direction::read).requests == 12.0);
    }
}

TEST_CASE("an op has any number of accesses") {
    Kernel kernel;
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 1 << 20));
    build.role("warp", 1);
    const Access one = lanes(x, Direction::read, Builder::constant(0), 4);
    build.op(make_op(InstructionClass::ld_global), {one, one, one, one, one});
    build.finish();
    check(kernel);
    const WalkTotals totals = walk_totals(kernel, WorkItem{});
    REQUIRE(totals.accesses.size() == 5);
    CHECK(totals.accesses[4].slot == 4);
    CHECK(totals.traffic(Space::global, Direction::read).inside_bytes == 5.0 * 128.0);
}

TEST_CASE("boxes and lanes are clipped as an enumeration of elements would") {
    CHECK(rc::check("against counting element by element", [] {
        const auto pick = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
        Kernel kernel;
        Builder build(kernel);
        kernel.buffers.push_back(matrix("x", Dtype::fp16, pick(1, 40), pick(1, 40)));
        const Buffer& buffer = kernel.buffers[0];
        const int column = pick(-20, 60);
        const int row = pick(-20, 60);
        Op op = make_op(InstructionClass::ld_global, pick(1, 3));
        const Access a = box(0, Direction::read, {Builder::constant(column), Builder::constant(row)},
                             {pick(1, 50), pick(1, 50)});
        double inside = 0.0;
        for (std::int64_t i = 0; i < a.box[0]; ++i) {
            for (std::int64_t j = 0; j < a.box[1]; ++j) {
                inside += column + i >= 0 && column + i < buffer.extent[0] && row + j >= 0 &&
                                  row + j < buffer.extent[1]
                              ? 2.0
                              : 0.0;
            }
        }
        RC_ASSERT(access_bytes(kernel, op, a, {}).inside == inside);

        Access b = lanes(0, Direction::read, Builder::constant(column), 2, pick(0, 40));
        b.pattern = pick(0, 1) == 1 ? PatternKind::stride : PatternKind::contiguous;
        b.inner_extent = pick(1, 32);
        b.inner = pick(0, 5);
        b.outer = pick(0, 50);
        inside = 0.0;
        for (std::int64_t j = 0; j < op.count; ++j) {
            for (std::int64_t lane = 0; lane < 32; ++lane) {
                const std::int64_t at =
                    column + j * b.step +
                    (b.pattern == PatternKind::contiguous
                         ? lane
                         : lane % b.inner_extent * b.inner + lane / b.inner_extent * b.outer);
                inside += at >= 0 && at < buffer.extent[0] * buffer.extent[1] ? 2.0 : 0.0;
            }
        }
        RC_ASSERT(access_bytes(kernel, op, b, {}).inside == inside);
        RC_ASSERT(access_bytes(kernel, op, b, {}).requested == static_cast<double>(op.count) * 64.0);
    }));
}

/// Two roles of one warp that wait for each other's token before they signal their own.
Kernel crossed(std::int32_t initial) {
    Kernel kernel;
    kernel.name = "crossed";
    kernel.cta = {64, 1, 1};
    Builder build(kernel);
    const Id left = build.token(token("left", TokenKind::mbarrier, Scope::cta, 1, 1, initial));
    const Id right = build.token(token("right", TokenKind::mbarrier, Scope::cta, 1));
    build.role("one", 1);
    build.loop(3);
    build.wait(left);
    build.signal(right);
    build.end();
    build.role("two", 1);
    build.loop(3);
    build.wait(right);
    build.signal(left);
    build.end();
    build.finish();
    return kernel;
}

TEST_CASE("a deadlock is found and names the tokens; one credit resolves it") {
    const Kernel stuck = crossed(0);
    CHECK_NOTHROW(check(stuck));
    CHECK_THROWS_WITH_AS(
        (void)walk_totals(stuck, WorkItem{}),
        doctest::Contains("role 'one' instance 0 warp 0 waits for 'left' phase 0, role 'two' "
                          "instance 0 warp 0 waits for 'right' phase 0"),
        warptime::Error);
    const WalkTotals totals = walk_totals(crossed(1), WorkItem{});
    CHECK(totals.tokens[0].waits == 3);
    CHECK(totals.tokens[1].arrivals == 3);
}

/// Ring of `depth` stages: the producer may be at most that far ahead.
class Ahead : public WalkVisitor {
  public:
    void on_op(const WalkPlace& place, Id /*op*/, std::int64_t /*execution*/) override {
        lead += place.role == 0 ? 1 : -1;
        most = std::max(most, lead);
        least = std::min(least, lead);
    }
    int lead = 0, most = 0, least = 0;
};

TEST_CASE("a producer runs as far ahead as there are stages, and a consumer never passes it") {
    for (const int depth : {1, 2, 3, 7}) {
        Kernel kernel;
        kernel.cta = {64, 1, 1};
        Builder build(kernel);
        const Id full =
            build.token(token("full", TokenKind::mbarrier, Scope::cta, 1, depth, 0, TokenKey::stage));
        const Id empty =
            build.token(token("empty", TokenKind::mbarrier, Scope::cta, 1, depth, depth, TokenKey::stage));
        build.role("producer", 1);
        build.loop(20);
        build.wait(empty);
        build.op(make_op(InstructionClass::cp_async_bulk_tensor, 1, {}, full));
        build.end();
        build.role("consumer", 1);
        build.loop(20);
        build.wait(full);
        build.op(make_op(InstructionClass::fma_f32));
        build.signal(empty);
        build.end();
        build.finish();
        check(kernel);
        const std::vector<WorkItem> items{WorkItem{}};
        Ahead ahead;
        walk(kernel, items, ahead);
        CHECK(ahead.lead == 0);
        CHECK(ahead.most == depth);
        CHECK(ahead.least == 0);
    }
}

TEST_CASE("once-per-unroll ops and conditions select iterations") {
    Kernel kernel;
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    build.role("warp", 1);
    Trips trips;
    trips.index = Builder::constant(10);
    build.loop(trips, 2, 2);
    Op counter = make_op(InstructionClass::add_s32);
    counter.once_per_unroll = true;
    build.op(counter);
    Op guarded = make_op(InstructionClass::fma_f32, 3);
    guarded.when = {true, build.variable(Variable::loop), 2, 7};
    build.op(guarded);
    build.end();
    build.finish();
    const WalkTotals totals = walk_totals(kernel, WorkItem{});
    CHECK(totals.instructions_of(InstructionClass::add_s32) == 3);
    CHECK(totals.instructions_of(InstructionClass::fma_f32) == 5 * 3);
}

TEST_CASE("a loop without an op ends in an error, not never") {
    Kernel kernel;
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    build.role("warp", 1);
    build.loop(std::int64_t{1} << 40);
    build.end();
    build.finish();
    CHECK_NOTHROW(check(kernel));
    CHECK_THROWS_AS((void)walk_totals(kernel, WorkItem{}), warptime::Error);
}

}  // namespace
