// Passes of matrix instructions for rows at several pitches.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/matrix_rows.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

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

/// A kernel whose instruction lists the byte addresses of its rows, execution by execution; -1: a lane that
/// gives none.
mk::Kernel listed_kernel(const std::vector<std::vector<std::int64_t>>& executions,
                         mk::InstructionClass cls = mk::InstructionClass::ldmatrix) {
    mk::Kernel kernel = kernel_of(cls, 4, 16);
    mk::Access& access = kernel.accesses[0];
    access.pattern = mk::PatternKind::listed;
    // Other addresses stand before those of the access.
    kernel.address_list.assign(7, 3);
    access.pool_first = 7;
    access.pool_length = static_cast<std::uint32_t>(32 * executions.size());
    for (const std::vector<std::int64_t>& rows : executions) {
        for (std::size_t lane = 0; lane < 32; ++lane) {
            const std::int64_t at = lane < rows.size() ? rows[lane] : -1;
            kernel.address_list.push_back(at < 0 ? -1 : at / 4);
        }
    }
    return kernel;
}

/// Rows at this pitch, eight a matrix.
std::vector<std::int64_t> at_pitch(std::size_t matrices, std::int64_t pitch) {
    std::vector<std::int64_t> rows;
    for (std::size_t row = 0; row < 8 * matrices; ++row) {
        rows.push_back(static_cast<std::int64_t>(row) * pitch);
    }
    return rows;
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

TEST_CASE("listed rows take the passes of their conflicts, for as many matrices as lanes give rows") {
    // Eight rows of 16 bytes fill the 128 bytes of the banks; rows that begin at the same bank wait for one
    // another: eight of a line's pitch, four pairs of half a line's, two of each bank of a quarter's.
    struct Pitch {
        std::int64_t bytes, passes;
    };
    for (const Pitch pitch : {Pitch{16, 1}, Pitch{144, 1}, Pitch{32, 2}, Pitch{64, 4}, Pitch{128, 8}}) {
        CAPTURE(pitch.bytes);
        for (const std::size_t matrices : {1U, 2U, 4U}) {
            CAPTURE(matrices);
            const machine::MatrixRows rows = rows_of(listed_kernel({at_pitch(matrices, pitch.bytes)}));
            CHECK(rows.matrices == static_cast<std::int64_t>(matrices));
            CHECK(rows.passes == static_cast<double>(pitch.passes) * static_cast<double>(matrices));
        }
    }
}

TEST_CASE("listed rows that a swizzle places conflict with none") {
    // Rows of a line of which row i takes piece i, or all the same piece but two.
    std::vector<std::int64_t> turned;
    std::vector<std::int64_t> pairs;
    for (std::int64_t row = 0; row < 32; ++row) {
        turned.push_back(128 * row + 16 * (row % 8));
        pairs.push_back(128 * row + 16 * (row % 8 / 2));
    }
    CHECK(rows_of(listed_kernel({turned})).passes == 4.0);
    CHECK(rows_of(listed_kernel({pairs})).passes == 8.0);
    // Lanes of one row read it together.
    CHECK(rows_of(listed_kernel({std::vector<std::int64_t>(32, 512)})).passes == 4.0);
}

TEST_CASE("passes of listed rows are the mean over the executions, and matrices the most of any") {
    const auto kernel = listed_kernel({at_pitch(4, 16), at_pitch(4, 128), at_pitch(4, 64), at_pitch(4, 16)});
    CHECK(rows_of(kernel).matrices == 4);
    CHECK(rows_of(kernel).passes == (4.0 + 32.0 + 16.0 + 4.0) / 4.0);
    const auto mixed = listed_kernel({at_pitch(1, 128), at_pitch(2, 16)});
    CHECK(rows_of(mixed).matrices == 2);
    CHECK(rows_of(mixed).passes == (8.0 + 2.0) / 2.0);
    const auto store = listed_kernel({at_pitch(2, 16), at_pitch(2, 64)}, mk::InstructionClass::stmatrix);
    CHECK(machine::path_passes(store.ops[0], rows_of(store)) == 5.0);
    const auto free = listed_kernel({at_pitch(2, 16), at_pitch(2, 144)}, mk::InstructionClass::stmatrix);
    CHECK(machine::path_passes(free.ops[0], rows_of(free)) == 3.0);
}

TEST_CASE("an access that lists nothing is free of conflicts, and the widest") {
    CHECK(rows_of(listed_kernel({})).matrices == 4);
    CHECK(rows_of(listed_kernel({})).passes == 4.0);
}

TEST_CASE("rows in groups stand by both steps, and are always 32") {
    const auto passes_of = [](std::int64_t group, std::int64_t inner, std::int64_t outer) {
        mk::Kernel kernel = kernel_of(mk::InstructionClass::ldmatrix, 4, 16);
        kernel.accesses[0].inner_extent = group;
        kernel.accesses[0].inner = inner / 4;
        kernel.accesses[0].outer = outer / 4;
        const machine::MatrixRows rows = rows_of(kernel);
        CHECK(rows.matrices == 4);
        // The same rows, listed.
        std::vector<std::int64_t> listed;
        for (std::int64_t row = 0; row < 32; ++row) {
            listed.push_back(row % group * inner + row / group * outer);
        }
        CHECK(rows_of(listed_kernel({listed})).passes == rows.passes);
        return rows.passes;
    };
    // Matrices side by side: rows of a line conflict, padded ones do not.
    CHECK(passes_of(8, 128, 16) == 32.0);
    CHECK(passes_of(8, 144, 16) == 4.0);
    CHECK(passes_of(16, 128, 16) == 32.0);
    // Groups of two or four rows side by side, a line apart from one another.
    CHECK(passes_of(2, 16, 128) == 16.0);
    CHECK(passes_of(4, 16, 128) == 8.0);
    CHECK(passes_of(4, 16, 64) == 4.0);
    // Groups of one row: the outer step alone counts.
    CHECK(passes_of(1, 0, 64) == 16.0);
}
