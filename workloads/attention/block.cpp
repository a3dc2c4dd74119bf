// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/block.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

BlockCounts counts_of(const Problem& problem, const AttentionTile& tile) {
    const std::int64_t m = tile.m, n = tile.n, head = tile.head, warps = tile.warps;
    const std::int64_t bytes = hw::bytes_of(problem.dtype);
    const std::int64_t row_tiles = std::max<std::int64_t>(1, m / (16 * warps));
    BlockCounts counts;
    counts.scores = m * n / (lanes * warps);
    counts.rows = 2 * row_tiles;
    counts.outputs = m * head / (lanes * warps);
    counts.products = std::max<std::int64_t>(1, m * n * head / (16 * 8 * 16 * warps));
    counts.loads_q = row_tiles * (head / 16);
    // Where there are fewer rows than the warps need, the warps share the keys.
    const std::int64_t sharers = std::max<std::int64_t>(1, 16 * warps / m);
    counts.loads_k = std::max<std::int64_t>(1, n / 16 * (head / 16) / sharers);
    counts.copies_q = std::max<std::int64_t>(1, m * head * bytes / (widest * lanes * warps));
    counts.copies_k = std::max<std::int64_t>(1, n * head * bytes / (widest * lanes * warps));
    return counts;
}

Id Body::add(InstructionClass cls, std::int64_t count, Id first, Id second, std::int64_t chain) {
    if (count < 1) return first;
    mk::Op op;
    op.cls = cls;
    op.count = count;
    op.chain = std::clamp<std::int64_t>(chain, 1, count);
    for (const Id dep : {first, second}) {
        if (dep != mk::no_id) op.deps[op.dep_count++] = {dep, 0};
    }
    return builder_.op(op);
}

Id Body::products(Dtype dtype, std::int64_t count, Id first, Id second) {
    mk::Op op;
    op.cls = InstructionClass::mma_sync;
    op.dtype = dtype;
    op.shape = {16, 8, 16};
    op.count = std::max<std::int64_t>(1, count);
    for (const Id dep : {first, second}) {
        if (dep != mk::no_id) op.deps[op.dep_count++] = {dep, 0};
    }
    return builder_.op(op);
}

void Body::box(Id buffer, mk::Direction direction, const mk::Index& row, const mk::Index& head,
               std::int64_t columns, std::int64_t rows) {
    mk::Access& access = builder_.access();
    access.buffer = buffer;
    access.direction = direction;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.bounds = direction == mk::Direction::read ? mk::Bounds::zero_fill : mk::Bounds::clip;
    access.cache = direction == mk::Direction::read ? mk::CachePolicy::cg : mk::CachePolicy::ca;
    access.bytes = static_cast<std::int32_t>(widest);
    access.origin = {Builder::constant(0), row, head, {}, {}};
    access.box = {columns, rows, 1, 1, 1};
}

void Body::meet(Id barrier, Id after) {
    add(InstructionClass::bar_sync, 1, after);
    builder_.signal(barrier, mk::SignalOn::issue);
    builder_.wait(barrier);
}

Id add_softmax(Body& body, const BlockCounts& c, Id scores) {
    const std::int64_t of_row = std::max<std::int64_t>(1, c.scores / c.rows);
    // The maximum of a row: of a lane's scores, then of the four lanes that share the row.
    const Id most =
        body.add(InstructionClass::compare_select, c.scores + 2 * c.rows, scores, mk::no_id, of_row);
    const Id shared = body.add(InstructionClass::shfl, 2 * c.rows, most, mk::no_id, 2);
    const Id rescale = body.add(InstructionClass::mufu, c.rows, shared);
    // Scaling, subtraction, and the guard of small exponents: a comparison and two guarded products.
    const Id scaled = body.add(InstructionClass::mul_f32, 3 * c.scores + 4 * c.rows, shared);
    body.add(InstructionClass::add_f32, c.scores, scaled);
    const Id guarded = body.add(InstructionClass::compare_select, c.scores + 3 * c.rows, scaled);
    const Id exponentials = body.add(InstructionClass::mufu, c.scores, guarded);
    body.add(InstructionClass::add_f32, c.scores, exponentials, mk::no_id, of_row);
    body.add(InstructionClass::mul_f32, c.outputs, rescale);
    body.add(InstructionClass::fma_f32, c.rows, rescale);
    return body.add(InstructionClass::convert_pack, c.scores / 2, exponentials);
}

Id add_lean_softmax(Body& body, const BlockCounts& c, Id scores) {
    const std::int64_t of_row = std::max<std::int64_t>(1, c.scores / c.rows);
    const Id most =
        body.add(InstructionClass::compare_select, c.scores + 2 * c.rows, scores, mk::no_id, of_row);
    const Id shared = body.add(InstructionClass::shfl, 2 * c.rows, most, mk::no_id, 2);
    const Id scaled = body.add(InstructionClass::fma_f32, c.scores + 2 * c.rows, shared);
    const Id exponentials = body.add(InstructionClass::mufu, c.scores + c.rows, scaled);
    body.add(InstructionClass::add_f32, c.scores, exponentials, mk::no_id, of_row);
    body.add(InstructionClass::mul_f32, c.outputs, shared);
    return body.add(InstructionClass::convert_pack, c.scores / 2, exponentials);
}

void set_launch(const AttentionTile& tile, mk::Kernel& kernel) {
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * tile.warps, 1, 1};
    kernel.registers_per_thread = tile.registers;
}

Id add_barrier(Builder& builder, int warps) {
    mk::Token& met = builder.token();
    met.name = "cta_barrier";
    met.kind = mk::TokenKind::named_barrier;
    met.arrivals = warps;
    return builder.last_token();
}

Id add_copy_groups(Builder& builder, int depth) {
    mk::Token& group = builder.token();
    group.name = "copies";
    group.kind = mk::TokenKind::async_group;
    group.scope = mk::Scope::warp;
    group.depth = depth;
    return builder.last_token();
}

Id add_token(Builder& builder, const mk::Name& name, mk::TokenKind kind, std::int32_t arrivals, int depth,
             int initial) {
    mk::Token& token = builder.token();
    token.name = name;
    token.kind = kind;
    token.scope = kind == mk::TokenKind::async_group ? mk::Scope::warp : mk::Scope::cta;
    token.key = depth > 1 ? mk::TokenKey::stage : mk::TokenKey::none;
    token.arrivals = arrivals;
    token.depth = depth;
    token.initial = initial;
    return builder.last_token();
}

mk::Index trips_of_item(Builder& builder) {
    mk::Index index = builder.begin();
    builder.add(index, mk::Variable::item_end);
    builder.add(index, mk::Variable::item_begin, -1);
    return index;
}

void guard_trip(Builder& builder, mk::Kernel& kernel, std::int64_t ahead) {
    // begin + i + ahead < end
    mk::When& when = kernel.ops.back().when;
    when.active = true;
    when.value = builder.begin(ahead);
    builder.add(when.value, mk::Variable::item_begin);
    builder.add(when.value, mk::Variable::item_end, -1);
    builder.add(when.value, mk::Variable::loop);
    when.low = -(std::int64_t{1} << 40);
    when.high = 0;
}

mk::Index kv_head(Builder& builder, const Problem& problem) {
    if (problem.group() == 1) return builder.variable(mk::Variable::tile, 1, 2);
    mk::Index index = builder.begin();
    builder.add(index, mk::Variable::tile, problem.batch, 2).divisor = problem.group() * problem.batch;
    if (problem.batch > 1) builder.add(index, mk::Variable::tile, 1, 2).modulus = problem.batch;
    return index;
}

Id add_heads(Builder& builder, const mk::Name& name, Dtype dtype, std::int64_t columns, std::int64_t rows,
             std::int64_t heads) {
    mk::Buffer& buffer = builder.buffer();
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.rank = 3;
    buffer.extent = {columns, rows, heads, 1, 1};
    buffer.stride = {1, columns, columns * rows, 0, 0};
    buffer.contents = mk::Contents::random;
    return builder.last_buffer();
}

void written_by(mk::Kernel& kernel, Id buffer, Id step) {
    mk::Buffer& of = kernel.buffers[static_cast<std::size_t>(buffer)];
    of.before = mk::Before::warm;
    of.contents = mk::Contents::written_by;
    of.written_by_step = step;
}

GradientBuffers add_gradient_buffers(Builder& builder, const Problem& p, std::int64_t sum_columns,
                                     std::int64_t sum_rows) {
    GradientBuffers all;
    all.q = add_heads(builder, "q", p.dtype, p.head_dim, p.sq, p.q_heads());
    all.d_out = add_heads(builder, "d_out", p.dtype, p.head_dim, p.sq, p.q_heads());
    all.k = add_heads(builder, "k", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
    all.v = add_heads(builder, "v", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
    all.lse = add_heads(builder, "lse", Dtype::fp32, 1, p.sq, p.q_heads());
    all.products = add_heads(builder, "products", Dtype::fp32, 1, p.sq, p.q_heads());
    all.sums = add_heads(builder, "d_q_sums", Dtype::fp32, sum_columns, sum_rows, p.q_heads());
    all.d_k = add_heads(builder, "d_k", p.dtype, p.head_dim, p.sk, p.q_heads());
    all.d_v = add_heads(builder, "d_v", p.dtype, p.head_dim, p.sk, p.q_heads());
    return all;
}

}  // namespace warptime::workloads::attention
