// Passes of matrix instructions for rows at several pitches.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/matrix_rows.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
namespace machine = warptime::model::machine;

namespace {

/// Kernel with one matrix instruction whose rows stand `pitch` bytes apart; 0: no access.
mk::Kernel kernel_of(mk::InstructionClass cls, std::int64_t matrices, std::int64_t pitch) {
    mk::Kernel kernel;
    mk::Builder build(kernel);
    mk::Buffer buffer;
    buffer.space = mk::Space::shared;
    buffer.dtype = mk::Dtype::int32;
    buffer.extent[0] = 2048;
    const mk::Id id = build.buffer(buffer);
    build.role("warp", 1);
    mk::Op op;
    op.cls = cls;
    mk::Access access;
    access.buffer = id;
    access.pattern = mk::PatternKind::stride;
    access.inner_extent = 8 * matrices;
    access.inner = pitch / 4;
    access.bytes = 16;
    if (pitch > 0) {
        build.op(op, {access});
    } else {
        build.op(op);
    }
    build.finish();
    return kernel;
}

/// Rows of the kernel's only op, on 32 banks of four bytes.
machine::MatrixRows rows_of(const mk::Kernel& kernel) {
    return machine::matrix_rows(kernel, kernel.ops[0], {32, 4});
}

}  // namespace

TEST_CASE("rows side by side take a pass a matrix, rows of a whole line one each") {
    for (const std::int64_t matrices : {1, 2, 4}) {
        const mk::Kernel packed = kernel_of(mk::InstructionClass::ldmatrix, matrices, 16);
        CHECK(rows_of(packed).matrices == matrices);
        CHECK(rows_of(packed).passes == matrices);
        const mk::Kernel padded = kernel_of(mk::InstructionClass::ldmatrix, matrices, 144);
        CHECK(rows_of(padded).passes == matrices);
        const mk::Kernel lines = kernel_of(mk::InstructionClass::ldmatrix, matrices, 128);
        CHECK(rows_of(lines).passes == 8 * matrices);
        const mk::Kernel half = kernel_of(mk::InstructionClass::ldmatrix, matrices, 64);
        CHECK(rows_of(half).passes == 4 * matrices);
    }
}

TEST_CASE("without rows the widest, free of conflicts; a store also sends its addresses") {
    const mk::Kernel load = kernel_of(mk::InstructionClass::ldmatrix, 1, 0);
    CHECK(rows_of(load).passes == 4);
    CHECK(machine::path_passes(load.ops[0], rows_of(load)) == 4);
    const mk::Kernel store = kernel_of(mk::InstructionClass::stmatrix, 2, 16);
    CHECK(machine::path_passes(store.ops[0], rows_of(store)) == 3);
    const mk::Kernel conflicts = kernel_of(mk::InstructionClass::stmatrix, 2, 64);
    CHECK(machine::path_passes(conflicts.ops[0], rows_of(conflicts)) == 8);
}
