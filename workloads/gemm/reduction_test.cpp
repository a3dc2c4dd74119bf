// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/reduction.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace warptime::workloads::gemm;
namespace mk = warptime::model::kernel;
namespace hw = warptime::hw;
using fixture::item_at;
using hw::InstructionClass;

namespace {

Problem single(std::int64_t m, std::int64_t n, std::int64_t k) {
    Problem p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = p.b = p.out = p.accumulator = hw::Dtype::fp32;
    return p;
}

Config block_tile(int m, int n, int split_k) {
    Config c;
    c.cta_m = m;
    c.cta_n = n;
    c.cta_k = 8;
    c.warps = 4;
    c.stages = 3;
    c.registers = 255;
    c.mma = MatrixInstruction::simt;
    c.pipeline = Pipeline::cp_async;
    c.copy_bytes = c.lane_bytes_a = c.lane_bytes_b = c.store_bytes = 4;
    c.fragments_ahead = true;
    c.split_k = split_k;
    return c;
}

mk::Program lowered_by_library(const Problem& p, const Config& c) {
    mk::Program program;
    lower(p, c, hw::load_gpu("h200-sxm"), program);
    return program;
}

}  // namespace

TEST_CASE("the last CTA of a tile adds up and needs a counter that begins at nought") {
    Config c = block_tile(128, 128, 8);
    c.reduction = Reduction::last_cta;
    const mk::Program program = lowered_by_library(single(1536, 1536, 2048), c);
    CHECK(program.kernel_count == 1);
    REQUIRE(program.steps.size() == 2);
    CHECK(program.steps[0].kind == mk::StepKind::memset);
    const mk::Kernel& kernel = program.kernels[0];
    REQUIRE(kernel.branches.size() == 1);
    CHECK(kernel.branches[0].warps_taking == 1.0 / 8);
}

TEST_CASE("sums take two bytes for rows of four, and for rows of two beyond a workspace of 16 MiB") {
    Config c;
    Problem small = single(1024, 1024, 4096), large = single(4096, 1024, 4096);
    small.out = large.out = hw::Dtype::bf16;
    c.copy_bytes = 16;
    CHECK(type_of_sums(large, c, 8) == hw::Dtype::fp32);
    c.copy_bytes = 4;
    CHECK(type_of_sums(small, c, 4) == small.out);
    c.copy_bytes = 2;
    CHECK(type_of_sums(small, c, 4) == hw::Dtype::fp32);
    CHECK(type_of_sums(small, c, 5) == small.out);
    CHECK(type_of_sums(large, c, 2) == large.out);
    large.out = hw::Dtype::fp32;
    CHECK(type_of_sums(large, c, 8) == hw::Dtype::fp32);
    mk::Kernel kernel;
    lower_reduction(small, 5, kernel, small.out);
    CHECK(kernel.buffers[0].dtype == small.out);
    CHECK(kernel.accesses[0].bytes == 2);
}

TEST_CASE("sums of elements fetch each split once, as many at a time as the loop is written out for") {
    mk::Kernel kernel;
    lower_reduction(single(64, 64, 1024), 40, kernel);
    CHECK(kernel.grid.volume() == 2 * 4);
    const mk::WalkTotals walk = mk::walk_totals(kernel, item_at(kernel, 0));
    CHECK(walk.instructions_of(InstructionClass::ld_global) == 16.0 * 40);
    CHECK(walk.instructions_of(InstructionClass::st_global) == 16.0);
    using Turns = std::vector<std::int64_t>;
    const auto turns_of = [](int splits) {
        mk::Kernel sums;
        lower_reduction(single(64, 64, 1024), splits, sums);
        Turns turns;
        for (const mk::Op& op : sums.ops) {
            if (op.cls == InstructionClass::ld_global) turns.push_back(op.count);
        }
        return turns;
    };
    CHECK(turns_of(2) == Turns{1, 1});
    CHECK(turns_of(4) == Turns{4});
    CHECK(turns_of(10) == Turns{8, 1, 1});
    CHECK(turns_of(15) == Turns{8, 4, 1, 2});
    CHECK(turns_of(28) == Turns{16, 8, 4});
    CHECK(turns_of(33) == Turns{16, 16, 1});
}

TEST_CASE("a sum of splits reads nothing but results, so that a flush has made nothing cold for it") {
    const auto reads_results_only = [](const mk::Kernel& kernel) {
        return std::all_of(kernel.accesses.begin(), kernel.accesses.end(), [&](const mk::Access& access) {
            if (access.direction == mk::Direction::write || access.buffer == mk::no_id) return true;
            const mk::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
            return buffer.space != mk::Space::global || buffer.contents == mk::Contents::written_by;
        });
    };
    Config c = block_tile(128, 128, 7);
    for (const Reduction reduction : {Reduction::blocks, Reduction::workspace}) {
        c.reduction = reduction;
        const mk::Program program = lowered_by_library(single(512, 256, 4096), c);
        REQUIRE(program.kernel_count == 2);
        CHECK_FALSE(reads_results_only(program.kernels[0]));
        CHECK(reads_results_only(program.kernels[1]));
    }
}

TEST_CASE("512 CTAs and more take several times the rows, as grids of the library do") {
    // Recorded grids: 47x12 for 363 x 1501, 32x21 for 1000 x 1000, 256x2 for 256 x 8192, 202x5 for 73 x 6438.
    struct Grid {
        std::int64_t m, n, ctas;
    };
    for (const Grid& g : {Grid{363, 1501, 47 * 12}, Grid{1000, 1000, 32 * 21}, Grid{256, 8192, 256 * 2},
                          Grid{73, 6438, 202 * 5}}) {
        mk::Kernel kernel;
        lower_reduction(single(g.m, g.n, 1024), 4, kernel);
        CHECK(kernel.grid.volume() == g.ctas);
    }
}
