// FlashAttention-3 forward with a causal mask: two warpgroups of 64 rows whose products take turns.
// The softmax of one warpgroup thus runs beside the tensor-core work of the other.
// Ignores: details of the rescaling's statistics, and the epilogue's normalisation.
// Source: Shah et al., 2024, sections 3.1 and 3.2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/examples/parts.hpp"

namespace warptime::model::kernel::examples {

struct FlashAttention {
    std::int64_t length = 512, heads = 2;  ///< head dimension 128, blocks of 128 rows and 128 keys
};

/// Op ids of the main loop, for tests.
struct FlashAttentionOps {
    Id copy_k = no_id, copy_v = no_id, scores = no_id, output = no_id, softmax = no_id, rescale = no_id;
};

/// Work item tile[0] is the block of rows; it has tile[0] + 1 blocks of keys, the diagonal one first.
inline FlashAttentionOps flash_attention(Kernel& kernel, const FlashAttention& problem) {
    kernel.clear();
    kernel.name = "flash_attention_3";
    const std::int64_t blocks = problem.length / 128;
    kernel.grid = {blocks * problem.heads, 1, 1};
    kernel.cta = {384, 1, 1};
    kernel.registers_per_thread = 168;
    kernel.dynamic_shared = 5 * 128 * 128 * 2;
    kernel.named_barriers = 3;
    kernel.schedule.tiles = {blocks, 1, problem.heads, 1};

    Builder build(kernel);
    const auto operand = [&](Name name) {
        Buffer buffer = matrix(name, Dtype::bf16, 128, problem.length);
        buffer.rank = 3;
        buffer.extent[2] = problem.heads;
        buffer.stride[2] = 128 * problem.length;
        return build.buffer(buffer);
    };
    const Id q = operand("q");
    const Id k = operand("k");
    const Id v = operand("v");
    const Id o = operand("o");
    const Id shared_q = build.buffer(shared_matrix("shared_q", Dtype::bf16, 128, 128, 1, 0));
    const Id shared_k = build.buffer(shared_matrix("shared_k", Dtype::bf16, 128, 128, 2, 32768));
    const Id shared_v = build.buffer(shared_matrix("shared_v", Dtype::bf16, 128, 128, 2, 98304));
    const auto stage_token = [&](Name name, std::int32_t arrivals, std::int32_t initial) {
        return build.token(
            token(name, TokenKind::mbarrier, Scope::cta, arrivals, 2, initial, TokenKey::stage));
    };
    const Id q_full = build.token(token("q_full", TokenKind::mbarrier, Scope::cta, 1));
    const Id k_full = stage_token("k_full", 1, 0);
    const Id v_full = stage_token("v_full", 1, 0);
    const Id k_empty = stage_token("k_empty", 8, 2);
    const Id v_empty = stage_token("v_empty", 8, 2);
    const Id scores_done = build.token(token("scores_done", TokenKind::async_group, Scope::warp, 1));
    const Id output_done = build.token(token("output_done", TokenKind::async_group, Scope::warp, 1));
    const Id turn = build.token(token("turn", TokenKind::named_barrier, Scope::cta, 4, 2, 1, TokenKey::tile));

    FlashAttentionOps ids;
    const Index head = build.variable(Variable::tile, 1, 2);
    const Index zero = Builder::constant(0);
    const auto copy = [&](Id buffer, const Index& row, Id completes) {
        Draft op = make_op(InstructionClass::cp_async_bulk_tensor, 1, {}, completes);
        elect_first_warp(build, op);
        add_access(op, box(buffer, Direction::read, {zero, row, head}, {128, 128, 1}));
        return add_op(build, op);
    };
    build.role("producer", 4, 1, 24);
    copy(q, build.variable(Variable::tile, 128), q_full);
    build.loop(build.index(1, {term(Variable::tile)}));
    const Index key_row = build.index(0, {term(Variable::tile, 128), term(Variable::loop, -128)});
    build.wait(k_empty);
    ids.copy_k = copy(k, key_row, k_full);
    build.wait(v_empty);
    ids.copy_v = copy(v, key_row, v_full);
    build.end();

    const auto multiply = [&](Id left, Id right, Id completes) {
        Draft op = matrix_op(InstructionClass::wgmma, Dtype::bf16, {64, 128, 16}, 8, {}, completes);
        op.shared_operand = left != no_id;
        if (left != no_id) {
            add_access(op,
                       box(left, Direction::read, {zero, build.variable(Variable::instance, 64)}, {128, 64}));
        }
        add_access(op, box(right, Direction::read, {zero, zero}, {128, 128}));
        return add_op(build, op);
    };
    build.role("consumer", 4, 2, 240);
    build.wait(q_full);
    build.wait(k_full);
    multiply(shared_q, shared_k, scores_done);
    build.wait(scores_done);
    build.signal(k_empty);
    add_op(build, make_op(InstructionClass::compare_select, 64));  // mask of the diagonal block
    add_op(build, make_op(InstructionClass::mufu, 64));
    build.mark("main_loop");
    build.loop(build.index(0, {term(Variable::tile)}));
    build.wait(turn);
    build.wait(k_full);
    ids.scores = multiply(shared_q, shared_k, scores_done);
    build.wait(v_full);
    ids.output = multiply(no_id, shared_v, output_done);
    build.signal(turn);
    build.wait(scores_done);
    build.signal(k_empty);
    ids.softmax = add_op(build, make_op(InstructionClass::mufu, 64));
    build.wait(output_done);
    build.signal(v_empty);
    ids.rescale = add_op(build, make_op(InstructionClass::mul_f32, 64));
    build.end();
    build.wait(v_full);
    multiply(no_id, shared_v, output_done);
    build.wait(output_done);
    build.signal(v_empty);
    const Id pack = add_op(build, make_op(InstructionClass::convert_pack, 32));
    Draft store = make_op(InstructionClass::st_global, 32, {{pack, 0}});
    const Index row =
        build.index(0, {term(Variable::tile, 128), term(Variable::instance, 64), term(Variable::warp, 16)});
    add_access(store, box(o, Direction::write, {zero, row, head}, {128, 16, 1}));
    add_op(build, store);
    build.finish();
    return ids;
}

}  // namespace warptime::model::kernel::examples
