// Sums of splits block by block: the grid, and what each lane reads, adds and stores in the walk.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/block_reduction.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/lane_block.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

Problem fp32_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
    Problem p = problem_of(m, n, k);
    p.a = p.b = p.out = p.accumulator = Dtype::fp32;
    return p;
}

Config block_tile(int m, int n, int split_k) {
    Config c = tile_of(m, n, 8);
    c.warps = 4;
    c.registers = 255;
    c.mma = MatrixInstruction::simt;
    c.split_k = split_k;
    return c;
}

}  // namespace

TEST_CASE("sums of blocks are as many CTAs as a tile has passes, with a turn for every split") {
    // Grids of execute_split_k_kernel in recorded rows: 2 for 128x128 and 64x64, 4 for 256x64, 1 for 32x32.
    CHECK(store_passes(block_tile(128, 128, 1)) == 2);
    CHECK(store_passes(block_tile(64, 64, 1)) == 2);
    CHECK(store_passes(block_tile(256, 64, 1)) == 4);
    Config small = block_tile(32, 32, 1);
    small.warps = 2;
    CHECK(store_passes(small) == 1);
    mk::Kernel sums;
    lower_block_reduction(fp32_problem(512, 256, 4096), block_tile(128, 128, 7), sums);
    mk::check(sums);
    CHECK(sums.grid.volume() == 4 * 2 * 2);
    const mk::WalkTotals walk = mk::walk_totals(sums, item_at(sums, 0));
    // Each lane loads 64 elements, four at once, from seven splits, and stores the elements one by one.
    CHECK(walk.instructions_of(InstructionClass::ld_global) == 4.0 * 7 * 64 / 4);
    CHECK(walk.instructions_of(InstructionClass::st_global) == 4.0 * 64);
}

TEST_CASE("every split is read once and the result is written once, edges included") {
    for (const auto& [m, n] : {std::array<std::int64_t, 2>{512, 256}, {300, 200}, {1, 1}}) {
        CAPTURE(m);
        mk::Kernel sums;
        lower_block_reduction(fp32_problem(m, n, 4096), block_tile(128, 128, 5), sums);
        const Moved moved = moved_by(sums);
        const double bytes = 4.0 * static_cast<double>(m * n);
        CHECK(moved.read[0] == 5.0 * bytes);
        CHECK(moved.written[1] == bytes);
    }
}
