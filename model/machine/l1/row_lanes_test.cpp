// Lanes in narrow rows: lines, passes and sectors against an enumeration of the lanes.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/row_lanes.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <set>

namespace mk = warptime::model::kernel;
namespace machine = warptime::model::machine;

namespace {

const machine::MemoryPieces pieces{32.0, 64.0, 128.0, {32, 4}};

struct Case {
    std::int64_t pitch;     ///< in elements of two bytes
    std::int64_t in_row;    ///< lanes in a row
    std::int64_t held = 8;  ///< elements that a lane holds
    int bytes = 2;
};

mk::Kernel kernel_of(const Case& c) {
    mk::Kernel kernel;
    mk::Builder build(kernel);
    mk::Buffer matrix;
    matrix.dtype = mk::Dtype::bf16;
    matrix.rank = 2;
    matrix.extent = {c.pitch, 128, 1, 1, 1};
    matrix.stride = {1, c.pitch, 0, 0, 0};
    mk::Access access;
    access.buffer = build.buffer(matrix);
    access.pattern = mk::PatternKind::collective;
    access.rank = 2;
    access.box = {c.in_row * c.held, 128, 1, 1, 1};
    access.bytes = c.bytes;
    access.inner = c.held;
    access.inner_extent = c.in_row;
    access.outer = c.pitch;
    build.role("warps", 4);
    mk::Op op;
    op.cls = mk::InstructionClass::ld_global;
    build.op(op, {access});
    build.finish();
    return kernel;
}

/// Mean lines of all instructions of all warps over some iterations.
double lines_counted(const Case& c) {
    double lines = 0.0;
    double instructions = 0.0;
    const std::int64_t rows = 32 / c.in_row;
    for (std::int64_t row = 0; row < 128; row += rows) {
        for (std::int64_t turn = 0; turn < 8; ++turn) {
            for (std::int64_t piece = 0; piece * c.bytes < 2 * c.held; ++piece) {
                std::set<std::int64_t> touched;
                for (std::int64_t lane = 0; lane < 32; ++lane) {
                    const std::int64_t element =
                        (row + lane / c.in_row) * c.pitch + (turn * c.in_row + lane % c.in_row) * c.held;
                    touched.insert((2 * element + piece * c.bytes) / 128);
                }
                lines += static_cast<double>(touched.size());
                instructions += 1.0;
            }
        }
    }
    return lines / instructions;
}

}  // namespace

TEST_CASE("lines of an instruction: those that its rows touch, averaged over where they begin") {
    for (const Case& c :
         {Case{4096, 4}, Case{768, 4}, Case{4097, 4}, Case{1023, 4}, Case{508, 4}, Case{208, 4},
          Case{4096, 8, 8, 4}, Case{2050, 8, 8, 4}, Case{4100, 8, 8, 4}, Case{288, 8, 8, 4}}) {
        const mk::Kernel kernel = kernel_of(c);
        CAPTURE(c.pitch);
        REQUIRE(machine::in_narrow_rows(kernel.accesses[0]));
        CHECK(machine::has_narrow_rows(kernel));
        CHECK(machine::row_lanes(kernel, kernel.accesses[0], pieces).lines ==
              doctest::Approx(lines_counted(c)).epsilon(0.01));
    }
}

TEST_CASE("rows whose pitch is whole lines meet in the same banks; odd pitches spread them") {
    const auto passes = [](const Case& c) {
        const mk::Kernel kernel = kernel_of(c);
        return machine::row_lanes(kernel, kernel.accesses[0], pieces).passes;
    };
    CHECK(passes({4096, 4}) == 8.0);
    CHECK(passes({768, 4}) == 8.0);
    CHECK(passes({4097, 4}) <= 2.0);
    CHECK(passes({4096, 8, 8, 4}) == 4.0);
}

TEST_CASE("lanes that hold a row each take as many lines as they are") {
    const mk::Kernel kernel = kernel_of({1000, 1, 256, 2});
    CHECK(machine::row_lanes(kernel, kernel.accesses[0], pieces).lines == 32.0);
    CHECK(machine::row_lanes(kernel, kernel.accesses[0], pieces).pieces == 256.0);
}

TEST_CASE("a load pays for tags or passes, a copy to shared memory for tags") {
    const mk::Kernel whole_lines = kernel_of({4096, 4});
    CHECK(machine::row_load_cycles(whole_lines, whole_lines.accesses[0], false, 0.5, 4.0, pieces) == 8.0);
    CHECK(machine::row_load_cycles(whole_lines, whole_lines.accesses[0], true, 0.5, 4.0, pieces) == 4.0);
    const mk::Kernel odd = kernel_of({4097, 4});
    CHECK(machine::row_load_cycles(odd, odd.accesses[0], false, 0.5, 4.0, pieces) == doctest::Approx(5.5));
}

TEST_CASE("a lane that walks through its row finds a sector's other elements where the first has put them") {
    // 256 elements of two bytes: sixteen elements a sector, one of which misses.
    const mk::Kernel kernel = kernel_of({1000, 1, 256, 2});
    CHECK(machine::row_load_cycles(kernel, kernel.accesses[0], false, 0.5, 4.0, pieces) ==
          doctest::Approx(32.0 * (1.0 / 16.0 + 15.0 / 16.0 / 4.0)));
    // Eight elements end before the sector does.
    const mk::Kernel part = kernel_of({1000, 1, 8, 2});
    CHECK(machine::row_load_cycles(part, part.accesses[0], true, 0.5, 4.0, pieces) ==
          doctest::Approx(0.5 * machine::row_lanes(part, part.accesses[0], pieces).lines));
}

TEST_CASE("stores send whole sectors, and twice those that they write in part") {
    const auto sent = [](const Case& c) {
        const mk::Kernel kernel = kernel_of(c);
        return machine::sent_per_written(kernel, kernel.accesses[0], pieces);
    };
    CHECK(sent({4096, 32, 1}) == 1.0);
    // 64 bytes that begin anywhere touch almost three sectors, two of which in part.
    CHECK(sent({4097, 32, 1}) == doctest::Approx((64.0 + 30.0 + 64.0) / 64.0));
}

TEST_CASE("boxes without lanes are none of these") {
    mk::Kernel kernel = kernel_of({4096, 4});
    kernel.accesses[0].outer = 0;
    CHECK_FALSE(machine::has_narrow_rows(kernel));
}
