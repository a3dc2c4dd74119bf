// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/specialized_backward.hpp"

#include "workloads/attention/block.hpp"
#include "workloads/attention/work_list.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

namespace {

constexpr int group_warps = 4, groups = 2;
constexpr std::int64_t keys_of_group = 64, step_k = 16, widest_n = 256;
constexpr std::int64_t small_warps = 4, of_places = 60;

/// A kernel of 128 threads with a CTA for `rows` rows of each head.
struct SmallKernel {
    SmallKernel(const mk::Name& name, std::int64_t all_rows, std::int64_t rows, std::int64_t batch,
                std::int64_t heads, std::int32_t registers, mk::Kernel& of)
        : kernel(of), builder(of), body(builder) {
        kernel.name = name.view();
        kernel.evidence = mk::Evidence::pooled;
        kernel.cta = {lanes * small_warps, 1, 1};
        kernel.registers_per_thread = registers;
        kernel.schedule.tiles = {ceil_div(all_rows, rows), 1, batch * heads, 1};
        kernel.grid = {kernel.schedule.tiles[0], batch, heads};
        row = builder.variable(mk::Variable::tile, rows);
        head = builder.variable(mk::Variable::tile, 1, 2);
    }
    /// Starts the only role; returns what finds the places of its rows.
    Id begin() {
        builder.role("warps", static_cast<std::int32_t>(small_warps));
        return body.add(InstructionClass::add_s32, of_places, mk::no_id, mk::no_id, of_places / 2);
    }
    void store(Dtype dtype, std::int64_t count, Id after) {
        mk::Op& op = builder.op(InstructionClass::st_global);
        op.dtype = dtype;
        op.count = std::max<std::int64_t>(1, count);
        op.returns = false;
        op.dep_count = 1;
        op.deps[0] = {after, 0};
    }
    mk::Kernel& kernel;
    Builder builder;
    Body body;
    mk::Index row, head;
};

/// Rows of a head that a CTA takes: 1024 elements of 64, 128 or 256.
std::int64_t rows_of_cta(std::int64_t head_dim) {
    return head_dim <= 64 ? 16 : head_dim <= 128 ? 8 : 4;
}

std::int64_t loads_of(std::int64_t elements, Dtype dtype) {
    return std::max<std::int64_t>(1, elements * hw::bytes_of(dtype) / (lanes * small_warps * widest));
}

void lower_products(const Problem& p, mk::Kernel& kernel) {
    const std::int64_t rows = rows_of_cta(p.head_dim);
    SmallKernel small("compute_dot_do_o", p.sq, rows, p.batch, p.heads, 26, kernel);
    Builder& b = small.builder;
    const Id d_out = add_heads(b, "d_out", p.dtype, p.head_dim, p.sq, p.q_heads());
    const Id out = add_heads(b, "out", p.dtype, p.head_dim, p.sq, p.q_heads());
    const Id sums = add_heads(b, "d_q_sums", Dtype::fp32, p.head_dim, p.sq, p.q_heads());
    const Id products = add_heads(b, "products", Dtype::fp32, 1, p.sq, p.q_heads());
    const std::int64_t elements = rows * p.head_dim;
    const Id places = small.begin();
    const Id first = small.body.add(InstructionClass::ld_global, loads_of(elements, p.dtype), places);
    small.body.box(d_out, mk::Direction::read, small.row, small.head, p.head_dim, rows);
    const Id second = small.body.add(InstructionClass::ld_global, loads_of(elements, p.dtype), places);
    small.body.box(out, mk::Direction::read, small.row, small.head, p.head_dim, rows);
    const std::int64_t of_lane = std::max<std::int64_t>(1, elements / (lanes * small_warps));
    const Id wide = small.body.add(InstructionClass::shift, 2 * of_lane, first, second);
    const Id multiplied = small.body.add(InstructionClass::fma_f32, of_lane, wide, mk::no_id, of_lane);
    const Id added = small.body.add(InstructionClass::shfl, 4, multiplied, mk::no_id, 4);
    small.store(Dtype::fp32, 1, added);
    small.body.box(products, mk::Direction::write, small.row, small.head, 1, rows);
    small.store(Dtype::fp32, loads_of(elements, Dtype::fp32), places);
    small.body.box(sums, mk::Direction::write, small.row, small.head, p.head_dim, rows);
    b.finish();
}

void lower_conversion_of_sums(const Problem& p, mk::Kernel& kernel) {
    constexpr std::int64_t elements_of_cta = 2048;
    const std::int64_t rows = std::max<std::int64_t>(1, elements_of_cta / p.head_dim);
    SmallKernel small("convert_dq_to_16bits", p.sq, rows, p.batch, p.heads, 30, kernel);
    const Id sums = add_heads(small.builder, "d_q_sums", Dtype::fp32, p.head_dim, p.sq, p.q_heads());
    const Id d_q = add_heads(small.builder, "d_q", p.dtype, p.head_dim, p.sq, p.q_heads());
    const std::int64_t elements = rows * p.head_dim;
    const std::int64_t of_lane = std::max<std::int64_t>(1, elements / (lanes * small_warps));
    const Id places = small.begin();
    const Id read = small.body.add(InstructionClass::ld_global, loads_of(elements, Dtype::fp32), places);
    small.body.box(sums, mk::Direction::read, small.row, small.head, p.head_dim, rows);
    const Id scaled = small.body.add(InstructionClass::mul_f32, of_lane, read);
    const Id packed =
        small.body.add(InstructionClass::convert_pack, std::max<std::int64_t>(1, of_lane / 2), scaled);
    small.store(p.dtype, loads_of(elements, p.dtype), packed);
    small.body.box(d_q, mk::Direction::write, small.row, small.head, p.head_dim, rows);
    small.builder.finish();
}

/// dK or dV of the heads of queries, added up over those that share their keys.
void lower_sum_of_heads(const Problem& p, mk::Kernel& kernel) {
    const std::int64_t rows = rows_of_cta(p.head_dim);
    SmallKernel small("fmha_reduce_head", p.sk, rows, p.batch, p.kv_heads, 32, kernel);
    Builder& b = small.builder;
    const Id parts = add_heads(b, "parts", p.dtype, p.head_dim, p.sk, p.q_heads());
    const Id sums = add_heads(b, "sums", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
    const std::int64_t elements = rows * p.head_dim;
    const std::int64_t of_lane = std::max<std::int64_t>(1, elements / (lanes * small_warps));
    const Id places = small.begin();
    b.loop(p.group());
    const Id read = small.body.add(InstructionClass::ld_global, loads_of(elements, p.dtype), places);
    const mk::Index part = b.sum(b.scaled(small.head, p.group()), b.variable(mk::Variable::loop));
    small.body.box(parts, mk::Direction::read, small.row, part, p.head_dim, rows);
    const Id wide = small.body.add(InstructionClass::shift, of_lane, read);
    const Id added = small.body.add(InstructionClass::add_f32, of_lane, wide);
    small.body.add(InstructionClass::add_s32, 6);
    b.end();
    const Id packed =
        small.body.add(InstructionClass::convert_pack, std::max<std::int64_t>(1, of_lane / 2), added);
    small.store(p.dtype, loads_of(elements, p.dtype), packed);
    small.body.box(sums, mk::Direction::write, small.row, small.head, p.head_dim, rows);
    b.finish();
}

struct BackwardGroups {
    const Problem& problem;
    const AttentionTile& tile;
    mk::Kernel& kernel;
    Builder builder{kernel};
    Body body{builder};
    GradientBuffers of = add_gradient_buffers(builder, problem, problem.head_dim, problem.sq);
    Id keys_full = mk::no_id, keys_empty = mk::no_id, q_full = mk::no_id, q_empty = mk::no_id,
       d_out_full = mk::no_id, d_out_empty = mk::no_id, barrier = mk::no_id;
    Id scores_done = mk::no_id, d_p_done = mk::no_id, gradients_done = mk::no_id;

    [[nodiscard]] std::int64_t keys() const { return keys_of_group * groups; }
    /// Scores of a lane: 64 keys of its group by the tile's queries.
    [[nodiscard]] std::int64_t scores() const { return keys_of_group * tile.m / (group_warps * lanes); }

    void add_tokens() {
        const std::int32_t readers = group_warps * groups;
        const int depth = std::max(1, tile.stages);
        keys_full = add_token(builder, "keys_full", mk::TokenKind::mbarrier, 2, 1, 0);
        keys_empty = add_token(builder, "keys_empty", mk::TokenKind::mbarrier, readers, 1, 1);
        q_full = add_token(builder, "q_full", mk::TokenKind::mbarrier, 1, depth, 0);
        q_empty = add_token(builder, "q_empty", mk::TokenKind::mbarrier, readers, depth, depth);
        d_out_full = add_token(builder, "d_out_full", mk::TokenKind::mbarrier, 1, depth, 0);
        d_out_empty = add_token(builder, "d_out_empty", mk::TokenKind::mbarrier, readers, depth, depth);
        scores_done = add_token(builder, "scores_done", mk::TokenKind::async_group, 1, 1, 0);
        d_p_done = add_token(builder, "d_p_done", mk::TokenKind::async_group, 1, 1, 0);
        gradients_done = add_token(builder, "gradients_done", mk::TokenKind::async_group, 3, 1, 0);
        barrier = add_barrier(builder, readers);
    }

    [[nodiscard]] mk::Index query() {
        mk::Index index = builder.begin();
        builder.add(index, mk::Variable::item_begin, tile.m);
        builder.add(index, mk::Variable::loop, tile.m);
        return index;
    }

    void copy(Id buffer, const mk::Index& row, const mk::Index& head, std::int64_t rows, Id full) {
        mk::Op& op = builder.op(InstructionClass::cp_async_bulk_tensor);
        op.dtype = problem.dtype;
        op.completes = full;
        body.box(buffer, mk::Direction::read, row, head, tile.head, rows);
    }

    void add_producer() {
        builder.role("producer", 1);
        const mk::Index head = builder.variable(mk::Variable::tile, 1, 2);
        const mk::Index kv = kv_head(builder, problem);
        const mk::Index key = builder.variable(mk::Variable::tile, keys());
        builder.wait(keys_empty);
        copy(of.k, key, kv, keys(), keys_full);
        copy(of.v, key, kv, keys(), keys_full);
        builder.loop(trips_of_item(builder));
        builder.wait(q_empty);
        copy(of.q, query(), head, tile.m, q_full);
        builder.wait(d_out_empty);
        copy(of.d_out, query(), head, tile.m, d_out_full);
        builder.end();
        builder.role("idle", group_warps - 1);
    }

    /// 64 rows of a product with `columns` results and `depth` multiply-adds.
    Id multiply(std::int64_t columns, std::int64_t depth, bool from_shared, Id done, Id after) {
        const std::int64_t pieces = ceil_div(columns, widest_n);
        mk::Op op;
        op.cls = InstructionClass::wgmma;
        op.dtype = problem.dtype;
        op.shape = {static_cast<std::int32_t>(keys_of_group), static_cast<std::int32_t>(columns / pieces),
                    static_cast<std::int32_t>(step_k)};
        op.count = pieces * std::max<std::int64_t>(1, depth / step_k);
        op.shared_operand = from_shared;
        op.completes = done;
        if (after != mk::no_id) op.deps[op.dep_count++] = {after, 0};
        return builder.op(op);
    }

    void add_trip(const mk::Index& head) {
        builder.wait(q_full);
        multiply(tile.m, tile.head, true, scores_done, mk::no_id);
        // The log-sum-exp and products of the rows that a lane's scores belong to.
        const Id rows = body.add(InstructionClass::ld_global, std::max<std::int64_t>(1, scores() / 4));
        body.box(of.lse, mk::Direction::read, query(), head, 1, tile.m);
        body.add(InstructionClass::ld_global, std::max<std::int64_t>(1, scores() / 4));
        body.box(of.products, mk::Direction::read, query(), head, 1, tile.m);
        builder.wait(d_out_full);
        multiply(tile.m, tile.head, true, d_p_done, mk::no_id);
        builder.wait(scores_done);
        if (problem.causal) {
            body.add(InstructionClass::compare_select, of_masked_score * scores() / 4);
        }
        const Id scaled = body.add(InstructionClass::fma_f32, scores(), rows);
        const Id p = body.add(InstructionClass::mufu, scores(), scaled);
        const Id packed = body.add(InstructionClass::convert_pack, scores() / 2, p);
        builder.wait(d_p_done);
        const Id differences = body.add(InstructionClass::add_f32, scores(), p);
        const Id d_s = body.add(InstructionClass::mul_f32, scores(), differences);
        const Id d_s_packed = body.add(InstructionClass::convert_pack, scores() / 2, d_s);
        const Id staged =
            body.add(InstructionClass::stmatrix, std::max<std::int64_t>(1, scores() / 8), d_s_packed);
        body.add(InstructionClass::add_s32, tile.aside);
        body.meet(barrier);
        // dV from registers, dK from registers, and half of dQ from what both groups have left in shared
        // memory.
        multiply(tile.head, tile.m, false, gradients_done, packed);
        multiply(tile.head, tile.m, false, gradients_done, d_s_packed);
        multiply(tile.head / groups, keys(), true, gradients_done, staged);
        builder.wait(gradients_done);
        body.add(InstructionClass::mbarrier_arrive, 2);
        builder.signal(q_empty, mk::SignalOn::completion);
        builder.signal(d_out_empty, mk::SignalOn::completion);
        // A lane's sums of dQ.
        mk::Op& add = builder.op(InstructionClass::red_global);
        add.dtype = Dtype::fp32;
        add.count = std::max<std::int64_t>(
            1, std::int64_t{tile.m} * problem.head_dim / (std::int64_t{lanes} * group_warps * groups));
        add.returns = false;
        mk::Access& access = builder.access();
        access.buffer = of.sums;
        access.direction = mk::Direction::atomic;
        access.pattern = mk::PatternKind::contiguous;
        access.bytes = hw::bytes_of(Dtype::fp32);
        access.step = std::int64_t{lanes} * group_warps * groups;
        mk::Index at = builder.scaled(query(), problem.head_dim);
        at = builder.sum(at, builder.scaled(head, problem.sq * problem.head_dim));
        at = builder.sum(at, builder.variable(mk::Variable::warp, lanes));
        access.origin[0] = builder.sum(at, builder.variable(mk::Variable::instance, lanes * group_warps));
    }

    void add_consumers() {
        builder.role("consumer", group_warps, groups, 240);
        const mk::Index head = builder.variable(mk::Variable::tile, 1, 2);
        builder.wait(keys_full);
        builder.loop(trips_of_item(builder));
        add_trip(head);
        builder.end();
        builder.signal(keys_empty, mk::SignalOn::completion);
        const std::int64_t outputs = keys_of_group * tile.head / (group_warps * lanes);
        mk::Index row = builder.variable(mk::Variable::tile, keys());
        builder.add(row, mk::Variable::instance, keys_of_group);
        for (const Id buffer : {of.d_k, of.d_v}) {
            const Id packed = body.add(InstructionClass::convert_pack, outputs / 2);
            const Id staged = body.add(InstructionClass::stmatrix, outputs / 8, packed);
            const Id met = body.add(InstructionClass::bar_sync, 1, staged);
            mk::Op& store = builder.op(InstructionClass::cp_async_bulk_store);
            store.dtype = problem.dtype;
            store.dep_count = 1;
            store.deps[0] = {met, 0};
            body.box(buffer, mk::Direction::write, row, head, problem.head_dim, keys_of_group);
        }
    }
};

void lower_groups(const Problem& p, const AttentionTile& tile, const hw::Gpu& gpu, mk::Kernel& kernel) {
    kernel.name = "cudnn_flash_bprop";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * group_warps * (groups + 1), 1, 1};
    kernel.registers_per_thread = tile.registers;
    kernel.named_barriers = 3;
    kernel.dynamic_shared = tile.shared;
    set_key_blocks(p, tile.m, keys_of_group * groups, kernel.schedule);
    mk::Schedule& schedule = kernel.schedule;
    const std::int64_t items = schedule.item_count();
    kernel.grid = {std::min(items, static_cast<std::int64_t>(gpu.sm.count.value())), 1, 1};
    // Each CTA takes every 132nd item. Under a mask with 8 blocks of keys a head, some CTAs get the long
    // ones: 48 trips where the mean is 36, and 2.64 us a trip make the recorded 128 us (2 x 32 heads, 1024
    // queries).
    if (schedule.kind != mk::ScheduleKind::listed) schedule.kind = mk::ScheduleKind::static_stride;
    BackwardGroups parts{p, tile, kernel};
    parts.add_tokens();
    parts.add_producer();
    parts.add_consumers();
    parts.builder.finish();
}

}  // namespace

void lower_specialized_backward(const Problem& problem, const AttentionTile& tile, const hw::Gpu& gpu,
                                mk::Program& program) {
    constexpr std::int64_t turn_bytes = 4;
    program.add_memset(turn_bytes);
    lower_products(problem, program.add_kernel());
    lower_groups(problem, tile, gpu, program.add_kernel());
    lower_conversion_of_sums(problem, program.add_kernel());
    if (problem.group() == 1) return;
    for (int gradient = 0; gradient < 2; ++gradient) lower_sum_of_heads(problem, program.add_kernel());
}

}  // namespace warptime::workloads::attention
