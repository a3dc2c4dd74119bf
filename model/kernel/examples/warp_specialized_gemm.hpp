// Warp-specialized GEMM on Hopper: one warpgroup copies by TMA, two multiply by wgmma, together or in turns.
// Clusters of 2 along m share the tile of B by multicast.
// Ignores: scheduling of tiles by the producer, the tensor maps' fetch, and epilogue arithmetic beyond the
// conversion.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/examples/parts.hpp"

namespace warptime::model::kernel::examples {

struct WarpSpecializedGemm {
    std::int64_t m = 1024, n = 1024, k = 1024;
    std::int32_t stages = 4;
    bool pingpong = false;
    std::int64_t rows() const { return pingpong ? 64 : 128; }  ///< of a CTA tile; 256 columns, 64 deep
    std::int64_t k_iterations() const { return k / 64; }
};

/// Op ids: 0 and 1 the copies of A and B, 2 the peeled product, 3 the product of the main loop.
inline void warp_specialized_gemm(Kernel& kernel, const WarpSpecializedGemm& problem) {
    const std::int64_t rows = problem.rows();
    const std::int32_t stages = problem.stages;
    kernel.clear();
    kernel.name = problem.pingpong ? "gemm_pingpong" : "gemm_cooperative";
    kernel.grid = {132, 1, 1};
    kernel.cluster = {2, 1, 1};
    kernel.cta = {384, 1, 1};
    kernel.registers_per_thread = 168;
    kernel.dynamic_shared = 64 * (rows + 256) * 2 * stages + rows * 256 * 2;
    kernel.named_barriers = 3;
    kernel.schedule.kind = ScheduleKind::static_stride;
    kernel.schedule.tiles = {(problem.m + rows - 1) / rows, (problem.n + 255) / 256, 1, 1};
    kernel.schedule.k_iterations = problem.k_iterations();

    Builder build(kernel);
    const Id a = build.buffer(matrix("a", Dtype::bf16, problem.k, problem.m));
    const Id b = build.buffer(matrix("b", Dtype::bf16, problem.k, problem.n));
    const Id c = build.buffer(matrix("c", Dtype::bf16, problem.n, problem.m));
    const Id shared_a = build.buffer(shared_matrix("shared_a", Dtype::bf16, 64, rows, stages, 0));
    const Id shared_b =
        build.buffer(shared_matrix("shared_b", Dtype::bf16, 64, 256, stages, 64 * rows * 2 * stages));
    const Id shared_c =
        build.buffer(shared_matrix("shared_c", Dtype::bf16, 256, rows, 1, 64 * (rows + 256) * 2 * stages, 0));

    // A of this CTA and both halves of B arrive; the warps of both CTAs release.
    const std::int32_t releasing = problem.pingpong ? 4 : 8;
    const Id full =
        build.token(token("full", TokenKind::mbarrier, Scope::cluster, 3, stages, 0, TokenKey::stage));
    const Id empty = build.token(
        token("empty", TokenKind::mbarrier, Scope::cluster, 2 * releasing, stages, stages, TokenKey::stage));
    const Id products = build.token(token("products", TokenKind::async_group, Scope::warp, 1, 2));
    const Id turn = build.token(token("turn", TokenKind::named_barrier, Scope::cta, 4, 2, 1, TokenKey::tile));
    const Index k_steps = build.index(0, {term(Variable::item_end), term(Variable::item_begin, -1)});
    const Index k_origin = build.index(0, {term(Variable::loop, 64), term(Variable::item_begin, 64)});
    const Index row = build.index(0, {term(Variable::tile, rows)});
    const Index column = build.variable(Variable::tile, 256, 1);

    build.role("producer", 4, 1, 40);
    build.loop(k_steps);
    build.wait(empty);
    Draft copy_a = make_op(InstructionClass::cp_async_bulk_tensor, 1, {}, full);
    elect_first_warp(build, copy_a);
    add_access(copy_a, box(a, Direction::read, {k_origin, row}, {64, rows}));
    copy_a.accesses[0].bounds = Bounds::zero_fill;
    add_op(build, copy_a);
    Draft copy_b = make_op(InstructionClass::cp_async_bulk_tensor, 1, {}, full);
    elect_first_warp(build, copy_b);
    add_access(copy_b,
               box(b, Direction::read, {k_origin, build.sum(column, build.variable(Variable::cta_rank, 128))},
                   {64, 128}));
    copy_b.accesses[0].bounds = Bounds::zero_fill;
    copy_b.accesses[0].multicast_ctas = 2;
    add_op(build, copy_b);
    build.end();

    build.role("consumer", 4, 2, 232);
    if (problem.pingpong) {
        build.alternate();
    }
    const auto multiply = [&] {
        Draft op = matrix_op(InstructionClass::wgmma, Dtype::bf16, {64, 256, 16}, 4, {}, products);
        op.shared_operand = true;
        const Index first_row =
            problem.pingpong ? Builder::constant(0) : build.variable(Variable::instance, 64);
        add_access(op, box(shared_a, Direction::read, {Builder::constant(0), first_row}, {64, 64}));
        add_access(op,
                   box(shared_b, Direction::read, {Builder::constant(0), Builder::constant(0)}, {64, 256}));
        return add_op(build, op);
    };
    // In turns: an instance's main loop begins when the other's has ended.
    if (problem.pingpong) {
        build.wait(turn);
    }
    build.wait(full);
    multiply();
    build.loop(build.sum(k_steps, Builder::constant(-1)));
    build.wait(full);
    multiply();
    build.wait(products, 1);
    build.signal(empty);
    build.end();
    if (problem.pingpong) {
        build.signal(turn);
    }
    build.wait(products);
    build.signal(empty);
    if (!problem.pingpong) {
        // The token of turns belongs to ping-pong only; here it is the barrier before the store.
        kernel.tokens[static_cast<std::size_t>(turn)] =
            token("turn", TokenKind::named_barrier, Scope::cta, 8);
    }
    const Id pack = add_op(build, make_op(InstructionClass::convert_pack, 64));
    Draft stage_c = make_op(InstructionClass::stmatrix, 32, {{pack, 0}});
    const Index group_row = problem.pingpong ? Builder::constant(0) : build.variable(Variable::instance, 64);
    const Index warp_row = build.sum(group_row, build.variable(Variable::warp, 16));
    add_access(stage_c, box(shared_c, Direction::write, {Builder::constant(0), warp_row}, {256, 16}));
    add_op(build, stage_c);
    if (!problem.pingpong) {
        add_op(build, make_op(InstructionClass::bar_sync));
        build.signal(turn);
        build.wait(turn);
    }
    Draft store = make_op(InstructionClass::cp_async_bulk_store);
    elect_first_warp(build, store);
    add_access(store, box(c, Direction::write, {column, build.sum(row, group_row)}, {256, 64}));
    add_op(build, store);
    build.finish();
}

}  // namespace warptime::model::kernel::examples
