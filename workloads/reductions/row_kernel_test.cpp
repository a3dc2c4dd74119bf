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

TEST_CASE(
    "a peeled row is its elements before the vectors, whole rounds of vectors, and the elements behind") {
    CHECK(rc::check("all elements once", [] {
        const auto cols = *rc::gen::inRange<std::int64_t>(1, 9000);
        const std::int64_t threads = std::int64_t{1} << *rc::gen::inRange(5, 11);
        const std::int64_t vector = std::int64_t{1} << *rc::gen::inRange(0, 4);
        const Peeled peeled = peel(cols, threads, vector);
        RC_ASSERT(peeled.before + peeled.rounds * threads * vector + peeled.behind == cols);
        RC_ASSERT(0 <= peeled.behind);
        RC_ASSERT(peeled.behind < threads * vector);
        RC_ASSERT((peeled.shift > 0) == (cols % vector != 0));
        RowKernel row = walks(5, cols, 2);
        row.threads = threads;
        for (RowKernel::Step& step : row.steps) {
            step.pass.vector = vector;
            step.pass.peeled = true;
        }
        const double whole = 5.0 * static_cast<double>(cols) * 4.0;
        const mk::Kernel kernel = made(row);
        RC_ASSERT(fixture::moved(kernel, "out", mk::Direction::write) == whole);
        RC_ASSERT(fixture::moved(kernel, "in", mk::Direction::read) == 2.0 * whole);
    }));
}

TEST_CASE("of a vector loaded by elements the first one brings the sectors, and the others find them") {
    RowKernel row = walks(8, 2048, 2);
    for (RowKernel::Step& step : row.steps) step.pass.reads = {{0, true}};
    const mk::Kernel kernel = made(row);
    std::vector<std::pair<std::int64_t, double>> loads;  // how many at a time, and what they find
    for (const mk::Op& op : kernel.ops) {
        if (op.cls != InstructionClass::ld_global) continue;
        const std::uint32_t reuse = kernel.accesses[op.first_access].reuse;
        loads.emplace_back(op.count, reuse == 0 ? 0.0 : kernel.reuse[reuse - 1U].sectors.back());
    }
    // The second walk finds all that the first one has read.
    REQUIRE(loads.size() == 4);
    CHECK(loads[0] == std::pair{std::int64_t{1}, 0.0});
    CHECK(loads[1] == std::pair{std::int64_t{3}, 1.0});
    CHECK(loads[2] == std::pair{std::int64_t{1}, 1.0});
    CHECK(loads[3] == std::pair{std::int64_t{3}, 1.0});
    CHECK(fixture::moved(kernel, "in", mk::Direction::read) == 2.0 * 8 * 2048 * 4);
}

TEST_CASE("what the L2 has lost of a matrix is read as another one, from where it ends to keep it") {
    RowKernel row = walks(8, 4096, 2);
    const double whole = 8.0 * 4096 * 4;
    for (const double kept : {0.0, 0.25, 1.0}) {
        row.steps[1].pass.kept = kept;
        const mk::Kernel kernel = made(row);
        CHECK(fixture::moved(kernel, "in", mk::Direction::read) == (1.0 + kept) * whole);
        CHECK(fixture::moved(kernel, "again0", mk::Direction::read) == (1.0 - kept) * whole);
        CHECK(fixture::moved(kernel, "out", mk::Direction::write) == whole);
    }
}

TEST_CASE("a reduction by threads adds the values of all in two steps") {
    RowKernel row = walks(8, 1024, 1);
    row.dynamic_shared = 128 * 4;
    row.steps[0].reduction = {Reduction::Kind::by_threads, {{InstructionClass::add_f32, 1.0}}, 0};
    const mk::Kernel kernel = made(row);
    std::int64_t loads = 0, additions = 0, barriers = 0;
    for (const mk::Op& op : kernel.ops) {
        if (op.cls == InstructionClass::ld_shared) loads += op.count;
        if (op.cls == InstructionClass::add_f32) additions += op.count;
        if (op.cls == InstructionClass::bar_sync) barriers += op.count;
    }
    // 32 values of threads a lane, then those of four warps, then the result.
    CHECK(loads == 32 + 4 + 1);
    CHECK(additions == 32 + 4);
    CHECK(barriers == 4);
}
