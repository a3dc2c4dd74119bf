// The main loop on the ordinary pipes: one fused multiply-add per product.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

TEST_CASE("products are shared by the lanes, in the pipe of their type") {
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
        Problem p = problem_of(256, 256, 512);
        p.a = p.b = p.out = p.accumulator = dtype;
        Config c = tile_of(64, 64, 16);
        c.warps = 4;
        const mk::Program program = lowered(p, c);
        const mk::WalkTotals walk = mk::walk_totals(program.kernels[0], item_at(program.kernels[0], 0));
        const bool wide = dtype == Dtype::fp64;
        const double products = 64.0 * 64 * 512;
        CHECK(walk.vector_flop == 2.0 * products);
        CHECK(walk.instructions_of(wide ? InstructionClass::fma_f64 : InstructionClass::fma_f32) ==
              products / 32.0);
        CHECK(walk.instructions_of(wide ? InstructionClass::fma_f32 : InstructionClass::fma_f64) == 0.0);
        CHECK(walk.matrix_flop == 0.0);
        // Both operands are loaded with 16 bytes a lane.
        const double bytes = wide ? 8.0 : 4.0;
        CHECK(walk.instructions_of(InstructionClass::ld_global) == 2.0 * 64 * 512 * bytes / 512.0);
        CHECK(program.kernels[0].roles.size() == 1);
    }
}

TEST_CASE("a library's loop copies ahead and reads the next operands while it multiplies") {
    Problem p = problem_of(256, 256, 512);
    p.a = p.b = p.out = p.accumulator = Dtype::fp32;
    Config c = tile_of(128, 64, 8);
    c.warps = 4;
    c.stages = 3;
    c.mma = MatrixInstruction::simt;
    c.pipeline = Pipeline::cp_async;
    c.copy_bytes = c.lane_bytes_a = c.lane_bytes_b = 4;
    c.fragments_ahead = true;
    const mk::Program program = lowered(p, c);
    const mk::WalkTotals walk = mk::walk_totals(program.kernels[0], item_at(program.kernels[0], 0));
    // Each output has one more multiplication for its scale and one more addition for the old value.
    CHECK(walk.vector_flop == 2.0 * 128 * 64 * (512 + 2));
    // Both operands are copied with four bytes a lane.
    CHECK(walk.instructions_of(InstructionClass::cp_async) == (128.0 + 64) * 512 / 32);
    CHECK(walk.instructions_of(InstructionClass::ld_global) == 0.0);
    // 64 outputs a lane form 8 x 8: 16 values a step along K, loaded four at a time.
    CHECK(walk.instructions_of(InstructionClass::ld_shared) >= 512.0 * 4 * 4);
    CHECK(walk.instructions_of(InstructionClass::fma_f32) == (512.0 + 2) * 64 * 4);
    CHECK(walk.instructions_of(InstructionClass::st_global) == 64.0 * 4);
}
