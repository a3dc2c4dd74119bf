// GEMM on Ampere as compilers make it: cp.async into 3 stages, mma.sync from registers, 2 CTAs per SM by
// shared memory. Both operands are contiguous along k.
// Ignores: address arithmetic and the loop's own instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/examples/parts.hpp"

namespace warptime::model::kernel::examples {

struct CpAsyncGemm {
    std::int64_t m = 512, n = 512, k = 512;
    std::int64_t k_iterations() const { return k / 32; }
};

/// 128 x 128 x 32 CTA tiles on 4 warps of 64 x 64.
inline void cp_async_gemm(Kernel& kernel, const CpAsyncGemm& problem) {
    kernel.clear();
    kernel.name = "cp_async_gemm";
    const std::int64_t tiles_m = (problem.m + 127) / 128;
    const std::int64_t tiles_n = (problem.n + 127) / 128;
    kernel.grid = {tiles_m * tiles_n, 1, 1};
    kernel.cta = {128, 1, 1};
    kernel.registers_per_thread = 128;
    kernel.dynamic_shared = 3 * 2 * 128 * 32 * 2;
    kernel.schedule.tiles = {tiles_m, tiles_n, 1, 1};
    kernel.schedule.group = 8;
    kernel.schedule.k_iterations = problem.k_iterations();

    Builder build(kernel);
    const Id a = build.buffer(matrix("a", Dtype::bf16, problem.k, problem.m));
    const Id b = build.buffer(matrix("b", Dtype::bf16, problem.k, problem.n));
    const Id c = build.buffer(matrix("c", Dtype::bf16, problem.n, problem.m));
    const Id shared_a = build.buffer(shared_matrix("shared_a", Dtype::bf16, 32, 128, 3, 0, 64));
    const Id shared_b = build.buffer(shared_matrix("shared_b", Dtype::bf16, 32, 128, 3, 24576, 64));
    const Id loads = build.token(token("loads", TokenKind::async_group, Scope::warp, 2, 3));
    const Id barrier = build.token(token("barrier", TokenKind::named_barrier, Scope::cta, 4));

    // 4 lanes cover 32 elements of a row, so an instruction takes a band of 8 rows. A warp takes every fourth
    // band.
    const auto copy = [&](Id global, Id shared, Variable tile_variable, std::uint16_t position,
                          std::int64_t ahead) {
        Draft op = make_op(InstructionClass::cp_async, 4, {}, loads);
        op.dtype = Dtype::bf16;
        Access read =
            lanes(global, Direction::read,
                  build.index(32 * ahead, {term(tile_variable, 128 * problem.k, position),
                                           term(Variable::warp, 8 * problem.k), term(Variable::loop, 32)}),
                  16, 32 * problem.k);
        read.pattern = PatternKind::stride;
        read.inner_extent = 4;
        read.inner = 8;
        read.outer = problem.k;
        read.cache = CachePolicy::cg;
        add_access(op, read);
        add_access(op, lanes(shared, Direction::write, build.variable(Variable::warp, 256), 16, 1024));
        if (ahead > 0) {
            op.when = {true, build.variable(Variable::loop), 0, problem.k_iterations() - ahead};
        }
        add_op(build, op);
    };
    const auto fragments = [&](Id shared) {
        Draft op = make_op(InstructionClass::ldmatrix, 8);
        add_access(op, box(shared, Direction::read, {Builder::constant(0), Builder::constant(0)}, {32, 64}));
        return add_op(build, op);
    };

    build.role("warps", 4);
    build.loop(2);
    copy(a, shared_a, Variable::tile, 0, 0);
    copy(b, shared_b, Variable::tile, 1, 0);
    add_op(build, make_op(InstructionClass::cp_async_commit));
    build.end();
    build.mark("main_loop");
    build.loop(problem.k_iterations());
    build.wait(loads, 1);
    add_op(build, make_op(InstructionClass::bar_sync));
    build.signal(barrier);
    build.wait(barrier);
    copy(a, shared_a, Variable::tile, 0, 2);
    copy(b, shared_b, Variable::tile, 1, 2);
    add_op(build, make_op(InstructionClass::cp_async_commit));
    const Id fragment_a = fragments(shared_a);
    const Id fragment_b = fragments(shared_b);
    Draft mma = matrix_op(InstructionClass::mma_sync, Dtype::bf16, {16, 8, 16}, 64,
                          {{fragment_a, 0}, {fragment_b, 0}});
    mma.chain = 2;
    mma.deps[mma.dep_count++] = {static_cast<Id>(kernel.ops.size()), 1};
    const Id product = add_op(build, mma);
    build.end();
    build.mark("epilogue");
    Draft pack = make_op(InstructionClass::convert_pack, 64, {{product, 0}});
    add_op(build, pack);
    Draft store = make_op(InstructionClass::st_global, 16, {{static_cast<Id>(kernel.ops.size() - 1), 0}});
    const Index column = build.index(0, {term(Variable::tile, 128, 1)});
    const Index row = build.index(0, {term(Variable::tile, 128, 0), term(Variable::warp, 32)});
    add_access(store, box(c, Direction::write, {column, row}, {128, 32}));
    add_op(build, store);
    add_op(build, make_op(InstructionClass::exit));
    build.finish();
}

}  // namespace warptime::model::kernel::examples
