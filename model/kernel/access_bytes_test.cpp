// Bytes of one access by hand: whole, at the buffer's edge, wrapped round it, and of boxes.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/access_bytes.hpp"

#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;

/// One load of 32 lanes x 4 bytes from element `origin` of a vector of 100 floats.
AccessBytes load_at(std::int64_t origin, Bounds bounds, std::int64_t count = 1, std::int64_t step = 0) {
    Kernel kernel;
    Builder build(kernel);
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 100));
    build.role("warp", 1);
    Access access;
    access.buffer = x;
    access.bytes = 4;
    access.origin[0] = Builder::constant(origin);
    access.bounds = bounds;
    access.step = step;
    Op op;
    op.cls = InstructionClass::ld_global;
    op.count = count;
    build.op(op, {access});
    build.finish();
    return access_bytes(kernel, kernel.ops[0], kernel.accesses[0], Coordinates{});
}

}  // namespace

TEST_CASE("lanes beyond the end are asked for and not inside, unless they wrap") {
    CHECK(load_at(0, Bounds::clip).inside == 128.0);
    CHECK(load_at(90, Bounds::clip).requested == 128.0);
    CHECK(load_at(90, Bounds::clip).inside == 40.0);
    CHECK(load_at(100, Bounds::clip).inside == 0.0);
    CHECK(load_at(90, Bounds::wrap).inside == 128.0);
}

TEST_CASE("several instructions stand a step apart, or on the same addresses") {
    CHECK(load_at(0, Bounds::clip, 4).requests == 4.0);
    CHECK(load_at(0, Bounds::clip, 4).inside == 4 * 128.0);
    CHECK(load_at(0, Bounds::clip, 4, 32).inside == 400.0);
}

TEST_CASE("a box is moved once, its rows clipped at the edge") {
    Kernel kernel;
    Builder build(kernel);
    const Id a = build.buffer(matrix("a", Dtype::bf16, 100, 50));
    build.role("warps", 4);
    Op op;
    op.cls = InstructionClass::cp_async_bulk_tensor;
    const auto inside = [&](std::int64_t column, std::int64_t row) {
        const Access access =
            box(a, Direction::read, {Builder::constant(column), Builder::constant(row)}, {64, 16});
        return access_bytes(kernel, op, access, Coordinates{});
    };
    CHECK(inside(0, 0).requested == 64 * 16 * 2);
    CHECK(inside(0, 0).inside == 64 * 16 * 2);
    CHECK(inside(64, 0).inside == 36 * 16 * 2);
    CHECK(inside(64, 40).inside == 36 * 10 * 2);
}

TEST_CASE("a buffer spans from its first element to its last, padding and stages included") {
    Buffer buffer = matrix("a", Dtype::bf16, 100, 50);
    CHECK(span_elements(buffer) == 5000);
    buffer.stride[1] = 128;
    CHECK(span_elements(buffer) == 49 * 128 + 100);
    buffer.stages = 3;
    CHECK(span_elements(buffer) == 3 * (49 * 128 + 100));
}
