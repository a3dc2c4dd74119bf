// Mixes as ops, addresses without a modulus, and sizes that read as they were given.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/body.hpp"

#include "hw/error.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/arrays/sizes.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using arrays::Body;
using mk::InstructionClass;

namespace {

arrays::Launch of_one_warp() {
    arrays::Launch launch;
    launch.threads = 32;
    return launch;
}

}  // namespace

TEST_CASE("a mix becomes one op a class, in order, each after the one before") {
    mk::Kernel kernel;
    Body body(kernel, of_one_warp());
    body.begin();
    const libraries::Mix mix{{InstructionClass::add_f32, 2.0}, {InstructionClass::mufu, 1.0}};
    const mk::Id last = body.add(mix, 3.0, mk::no_id);
    const mk::Id wide = body.add(mix, 8.0, last, 8.0);
    body.finish();
    REQUIRE(kernel.ops.size() == 4);
    CHECK(kernel.ops[0].count == 6);
    CHECK(kernel.ops[0].chain == 6);  // one value: all in series
    CHECK(kernel.ops[1].deps[0].op == 0);
    CHECK(kernel.ops[2].deps[0].op == last);
    CHECK(kernel.ops[2].chain == 1);  // eight values hide one another
    CHECK(wide == 3);
}

TEST_CASE("the first op of a mix waits for all that it is told to") {
    mk::Kernel kernel;
    Body body(kernel, of_one_warp());
    body.begin();
    const libraries::Mix mix{{InstructionClass::add_f32, 1.0}, {InstructionClass::mufu, 1.0}};
    const mk::Id a = body.op(InstructionClass::fma_f32, 1, mk::no_id);
    const mk::Id b = body.op(InstructionClass::fma_f32, 1, mk::no_id);
    const mk::Id last = body.add(mix, 1.0, b, std::array{a}, 1.0);
    body.finish();
    REQUIRE(last == 3);
    CHECK(kernel.ops[2].dep_count == 2);
    CHECK(kernel.ops[2].deps[1].op == a);
    CHECK(kernel.ops[3].dep_count == 1);
}

TEST_CASE("a loop in strides takes the mean of its warps' trips, and a single trip is whole") {
    CHECK(rc::check("any length", [] {
        const auto warps = *rc::gen::inRange<std::int64_t>(1, 33);
        const auto of_warp = 32 * *rc::gen::inRange<std::int64_t>(1, 9);
        const auto total = *rc::gen::inRange<std::int64_t>(1, 100000);
        const std::int64_t step = warps * of_warp;
        mk::Kernel kernel;
        arrays::Launch launch;
        launch.threads = 32 * warps;
        Body body(kernel, launch);
        body.begin();
        const mk::Bounds bounds = body.strided_loop(total, step, of_warp);
        (void)body.op(InstructionClass::add_f32, 1, mk::no_id);
        body.builder().end();
        body.finish();
        // Counted warp by warp.
        double trips = 0.0;
        for (std::int64_t warp = 0; warp < warps; ++warp) {
            const std::int64_t left = total - warp * of_warp;
            if (left > 0) trips += static_cast<double>(arrays::ceil_div(left, step));
        }
        const mk::Trips& said = kernel.loops[0].trips;
        if (total <= step || total % step == 0) {
            RC_ASSERT(!said.expected);
            RC_ASSERT(bounds == mk::Bounds::clip);
        } else {
            RC_ASSERT(bounds == mk::Bounds::wrap);
            RC_ASSERT(std::abs(said.mean * static_cast<double>(warps) - trips) < 1e-9 * trips);
            RC_ASSERT(kernel.loops[0].slowest.of_grid == static_cast<double>(arrays::ceil_div(total, step)));
        }
    }));
}

TEST_CASE("a remainder without a modulus is a remainder") {
    CHECK(rc::check("any place along a row", [] {
        const auto warps = *rc::gen::inRange<std::int64_t>(1, 9);
        const auto each = *rc::gen::inRange<std::int64_t>(1, 100);
        const auto divisor = *rc::gen::inRange<std::int64_t>(1, 60);
        mk::Kernel kernel;
        arrays::Launch launch;
        launch.threads = 1024;
        Body body(kernel, launch);
        const mk::Id buffer = body.vector("x", mk::Dtype::int8, 100000);
        body.begin();
        const mk::Index row = body.along_row(warps, each);
        const mk::Index rest = body.remainder(body.builder().variable(mk::Variable::warp, 7), divisor);
        (void)body.load(Body::lanes(buffer, mk::Direction::read, row, 1), mk::no_id);
        body.finish();
        for (const mk::Index& index : {row, rest}) {
            for (std::uint32_t t = index.first; t < index.first + index.count; ++t) {
                RC_ASSERT(kernel.terms[t].modulus == 0);
            }
        }
        mk::WalkTotals totals = mk::walk_totals(kernel, mk::WorkItem{});
        RC_ASSERT(totals.traffic(mk::Space::global, mk::Direction::read).inside_bytes == 1024.0);
    }));
}

TEST_CASE("sizes, types and the implementation are read as given") {
    const auto operation = make_operation(
        "topk", {{"rows", "7"}, {"cols", "9"}, {"k", "3"}, {"dtype", "fp32"}, {"implementation", "ideal"}});
    const arrays::Sizes sizes = arrays::read_sizes(operation, find_operator("topk").parameters);
    CHECK(sizes.rows == 7);
    CHECK(sizes.cols == 9);
    CHECK(sizes.k == 3);
    CHECK(sizes.element_bytes() == 4);
    CHECK_FALSE(sizes.torch);
    CHECK(sizes.elements() == 63);
    CHECK(arrays::size_of("dtype") == nullptr);
    const arrays::Sizes vector =
        arrays::read_sizes(make_operation("sum", {{"n", "5"}}), find_operator("sum").parameters);
    CHECK(vector.elements() == 5);
    arrays::Sizes large;
    large.matrix = true;
    large.rows = large.cols = std::int64_t{1} << 53;
    CHECK(large.elements() == std::int64_t{1} << 60);
}

TEST_CASE("a reduction in memory gives no old value back, an atomic does") {
    mk::Kernel kernel;
    arrays::Launch launch;
    launch.name = "sums";
    Body body(kernel, launch);
    const mk::Id sums = body.vector("sums", mk::Dtype::fp32, 32);
    body.begin();
    const mk::Access at = Body::lanes(sums, mk::Direction::atomic, mk::Builder::constant(0), 4);
    (void)body.access_op(mk::InstructionClass::red_global, at, mk::no_id);
    CHECK_FALSE(kernel.ops.back().returns);
    (void)body.access_op(mk::InstructionClass::atom_global, at, mk::no_id);
    CHECK(kernel.ops.back().returns);
    body.finish();
}
