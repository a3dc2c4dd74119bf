// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/specialized.hpp"

#include "workloads/attention/block.hpp"
#include "workloads/attention/work_list.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;
using libraries::AttentionFamily;

namespace {

constexpr int warps_of_group = 4;
constexpr std::int64_t rows_of_group = 64;
constexpr std::int64_t counter_bytes = 4;

struct Specialized {
    const Problem& problem;
    const AttentionFamily& family;
    const AttentionTile& tile;
    mk::Kernel& kernel;
    Builder builder{kernel};
    Body body{builder};
    Id q = mk::no_id, k = mk::no_id, v = mk::no_id, out = mk::no_id, lse = mk::no_id;
    Id shared_q = mk::no_id, shared_k = mk::no_id, shared_v = mk::no_id;
    Id q_full = mk::no_id, q_empty = mk::no_id, k_full = mk::no_id, v_full = mk::no_id, k_empty = mk::no_id,
       v_empty = mk::no_id, scores_done = mk::no_id, sums_done = mk::no_id;

    [[nodiscard]] int groups() const { return std::max(1, tile.warps / warps_of_group); }
    [[nodiscard]] std::int64_t scores() const { return rows_of_group * tile.n / (warps_of_group * lanes); }
    [[nodiscard]] std::int64_t outputs() const {
        return rows_of_group * tile.head / (warps_of_group * lanes);
    }
    static constexpr std::int64_t rows_of_lane = 2;

    Id add_shared(const mk::Name& name, std::int64_t rows, int stages) {
        mk::Buffer& buffer = builder.buffer();
        buffer.name = name;
        buffer.space = mk::Space::shared;
        buffer.dtype = problem.dtype;
        buffer.rank = 2;
        buffer.extent = {tile.head, rows, 1, 1, 1};
        buffer.stride = {1, tile.head, 0, 0, 0};
        buffer.stages = stages;
        buffer.swizzle_bytes = 128;
        return builder.last_buffer();
    }

    void add_buffers() {
        const Problem& p = problem;
        q = add_heads(builder, "q", p.dtype, p.head_dim, p.sq, p.q_heads());
        k = add_heads(builder, "k", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
        v = add_heads(builder, "v", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
        out = add_heads(builder, "out", p.dtype, p.head_dim, p.sq, p.q_heads());
        lse = add_heads(builder, "lse", Dtype::fp32, 1, p.sq, p.q_heads());
        shared_q = add_shared("shared_q", tile.m, 1);
        shared_k = add_shared("shared_k", tile.n, stages());
        shared_v = add_shared("shared_v", tile.n, stages());
    }

    [[nodiscard]] int stages() const { return std::max(1, tile.stages); }

    void add_tokens() {
        const int depth = stages();
        const std::int32_t readers = tile.warps;
        q_full = add_token(builder, "q_full", mk::TokenKind::mbarrier, 1, 1, 0);
        q_empty = add_token(builder, "q_empty", mk::TokenKind::mbarrier, readers, 1, 1);
        k_full = add_token(builder, "k_full", mk::TokenKind::mbarrier, 1, depth, 0);
        v_full = add_token(builder, "v_full", mk::TokenKind::mbarrier, 1, depth, 0);
        k_empty = add_token(builder, "k_empty", mk::TokenKind::mbarrier, readers, depth, depth);
        v_empty = add_token(builder, "v_empty", mk::TokenKind::mbarrier, readers, depth, depth);
        scores_done = add_token(builder, "scores_done", mk::TokenKind::async_group, 1, 1, 0);
        sums_done = add_token(builder, "sums_done", mk::TokenKind::async_group, 1, 1, 0);
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
        builder.wait(q_empty);
        copy(q, builder.variable(mk::Variable::tile, tile.m), head, tile.m, q_full);
        builder.loop(trips_of_item(builder));
        mk::Index key = builder.begin(-tile.n);
        builder.add(key, mk::Variable::item_end, tile.n);
        builder.add(key, mk::Variable::loop, -tile.n);
        builder.wait(k_empty);
        copy(k, key, kv, tile.n, k_full);
        builder.wait(v_empty);
        copy(v, key, kv, tile.n, v_full);
        builder.end();
        builder.role("idle", warps_of_group - 1);
    }

    /// A product of 64 queries: `columns` results of `depth` multiply-adds.
    Id multiply(std::int64_t columns, std::int64_t depth, bool from_shared, Id right, Id done, Id after) {
        constexpr std::int64_t most_columns = 256, step = 16;
        const std::int64_t pieces = ceil_div(columns, most_columns);
        mk::Op op;
        op.cls = InstructionClass::wgmma;
        op.dtype = problem.dtype;
        op.shape = {static_cast<std::int32_t>(rows_of_group), static_cast<std::int32_t>(columns / pieces),
                    static_cast<std::int32_t>(step)};
        op.count = pieces * std::max<std::int64_t>(1, depth / step);
        op.shared_operand = from_shared;
        op.completes = done;
        if (after != mk::no_id) op.deps[op.dep_count++] = {after, 0};
        const Id id = builder.op(op);
        (void)right;
        return id;
    }

    Id add_softmax_of_group(Id scored) {
        BlockCounts counts;
        counts.scores = scores();
        counts.rows = rows_of_lane;
        counts.outputs = 0;  // sums are scaled when their product is complete
        return add_lean_softmax(body, counts, scored);
    }

    void add_consumers() {
        builder.role("consumer", warps_of_group, groups(), 240);
        builder.wait(q_full);
        builder.loop(trips_of_item(builder));
        builder.wait(k_full);
        const Id scored = multiply(tile.n, tile.head, true, shared_k, scores_done, mk::no_id);
        builder.wait(scores_done);
        body.add(InstructionClass::mbarrier_arrive, 1, scored);
        builder.signal(k_empty, mk::SignalOn::completion);
        const Id packed = add_softmax_of_group(scored);
        const Id scaled = body.add(InstructionClass::mul_f32, outputs(), packed);
        body.add(InstructionClass::add_s32, tile.aside);
        builder.wait(v_full);
        const Id summed = multiply(tile.head, tile.n, false, shared_v, sums_done, scaled);
        builder.wait(sums_done);
        body.add(InstructionClass::mbarrier_arrive, 1, summed);
        builder.signal(v_empty, mk::SignalOn::completion);
        builder.end();
        builder.signal(q_empty, mk::SignalOn::completion);
        add_result();
    }

    void add_result() {
        // Masked scores of an item, whose blocks lie along the diagonal.
        if (problem.causal) {
            body.add(InstructionClass::compare_select, of_masked_score * scores() * ceil_div(tile.m, tile.n));
        }
        const Id sums = body.add(InstructionClass::shfl, 2 * rows_of_lane, mk::no_id, mk::no_id, 2);
        const Id inverse = body.add(InstructionClass::mufu, 2 * rows_of_lane, sums);
        const Id scaled = body.add(InstructionClass::mul_f32, outputs(), inverse);
        const Id packed =
            body.add(InstructionClass::convert_pack, std::max<std::int64_t>(1, outputs() / 2), scaled);
        const Id staged =
            body.add(InstructionClass::stmatrix, std::max<std::int64_t>(1, outputs() / 8), packed);
        const Id met = body.add(InstructionClass::bar_sync, 1, staged);
        mk::Op& store = builder.op(InstructionClass::cp_async_bulk_store);
        store.dtype = problem.dtype;
        store.dep_count = 1;
        store.deps[0] = {met, 0};
        mk::Index row = builder.begin();
        builder.add(row, mk::Variable::tile, tile.m);
        builder.add(row, mk::Variable::instance, rows_of_group);
        const mk::Index head = builder.variable(mk::Variable::tile, 1, 2);
        body.box(out, mk::Direction::write, row, head, problem.head_dim, rows_of_group);
        mk::Op& sums_out = builder.op(InstructionClass::st_global);
        sums_out.dtype = Dtype::fp32;
        sums_out.returns = false;
        sums_out.dep_count = 1;
        sums_out.deps[0] = {inverse, 0};
        body.box(lse, mk::Direction::write, row, head, 1, rows_of_group);
    }
};

}  // namespace

void lower_specialized(const Problem& problem, const AttentionFamily& family, const AttentionTile& tile,
                       const hw::Gpu& gpu, mk::Program& program) {
    if (family.cleared) program.add_memset(counter_bytes);
    mk::Kernel& kernel = program.add_kernel();
    kernel.name = family.implementation == "cudnn" ? "cudnn_flash_fprop" : "flash_fwd_sm90";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * (tile.warps + warps_of_group), 1, 1};
    kernel.registers_per_thread = tile.registers;
    kernel.named_barriers = 3;
    set_query_blocks(problem, tile.m, tile.n, kernel.schedule);
    mk::Schedule& schedule = kernel.schedule;
    if (family.longest_first) {
        std::stable_sort(schedule.items.begin(), schedule.items.end(),
                         [](const auto& a, const auto& b) { return a.end - a.begin > b.end - b.begin; });
    }
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    const std::int64_t items = schedule.item_count();
    kernel.grid = {family.persistent ? std::min(items, sms) : items, 1, 1};
    if (family.persistent) {
        if (schedule.kind == mk::ScheduleKind::listed) {
            schedule.on_demand = true;
        } else {
            schedule.kind =
                family.cleared ? mk::ScheduleKind::dynamic_counter : mk::ScheduleKind::static_stride;
        }
    }
    Specialized parts{problem, family, tile, kernel};
    parts.add_buffers();
    parts.add_tokens();
    kernel.dynamic_shared = tile.shared;
    parts.add_producer();
    parts.add_consumers();
    parts.builder.finish();
}

}  // namespace warptime::workloads::attention
