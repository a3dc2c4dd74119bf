// Kernels of a CTA a row: passes and reductions of a description of our own against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/row_kernel.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::reductions;
using warptime::hw::InstructionClass;

namespace {

/// `passes` walks over one matrix, the last of which writes another one.
RowKernel walks(std::int64_t rows, std::int64_t cols, int passes) {
    RowKernel row;
    row.name = "walks";
    row.rows = rows;
    row.cols = cols;
    row.threads = 128;
    row.arrays = {{"in", mk::Dtype::fp32, RowArray::Kind::matrix},
                  {"out", mk::Dtype::fp32, RowArray::Kind::matrix}};
    for (int i = 0; i < passes; ++i) {
        RowKernel::Step step;
        step.pass.reads = {{0, false}};
        if (i == passes - 1) step.pass.writes = {{1, false}};
        step.pass.vector = 4;
        row.steps.push_back(step);
    }
    return row;
}

mk::Kernel made(const RowKernel& row) {
    mk::Program program;
    mk::Kernel& kernel = program.add_kernel();
    lower_row_kernel(row, kernel);
    mk::check(program);
    return kernel;
}

}  // namespace

TEST_CASE("each pass reads the row once, and the last one writes it") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(1, 30);
        const auto cols = 4 * *rc::gen::inRange<std::int64_t>(1, 700);
        const auto passes = *rc::gen::inRange(1, 4);
        const mk::Kernel kernel = made(walks(rows, cols, passes));
        const double whole = static_cast<double>(rows * cols) * 4.0;
        RC_ASSERT(kernel.grid.volume() == rows);
        RC_ASSERT(fixture::moved(kernel, "in", mk::Direction::read) == passes * whole);
        RC_ASSERT(fixture::moved(kernel, "out", mk::Direction::write) == whole);
    }));
}

TEST_CASE("a row in registers is not read again, one in shared memory not from memory") {
    RowKernel row = walks(8, 1024, 2);
    row.steps[1].pass.held = true;
    const double whole = 8.0 * 1024 * 4;
    CHECK(fixture::moved(made(row), "in", mk::Direction::read) == whole);
    row = walks(8, 1024, 2);
    row.arrays.push_back({"copy", mk::Dtype::fp32, RowArray::Kind::shared});
    row.dynamic_shared = 1024 * 4;
    row.steps[0].pass.writes = {{2, false}};
    row.steps[1].pass.reads = {{2, false}};
    CHECK(fixture::moved(made(row), "in", mk::Direction::read) == whole);
    CHECK(fixture::moved(made(row), "out", mk::Direction::write) == whole);
}

TEST_CASE("a reduction over the CTA makes its warps meet, and results are one element a row") {
    const auto barriers = [](const mk::Kernel& kernel) {
        std::int64_t count = 0;
        for (const mk::Op& op : kernel.ops) count += op.cls == InstructionClass::bar_sync ? op.count : 0;
        return count;
    };
    RowKernel row = walks(8, 512, 1);
    CHECK(barriers(made(row)) == 0);
    row.static_shared = 128;
    row.steps[0].reduction.kind = Reduction::Kind::by_first_warp;
    row.results = {{"sums", mk::Dtype::fp32, RowArray::Kind::vector}};
    const mk::Kernel reduced = made(row);
    CHECK(barriers(reduced) >= 1);
    CHECK(fixture::moved(reduced, "sums", mk::Direction::write) == doctest::Approx(8.0 * 4).epsilon(1e-9));
}
