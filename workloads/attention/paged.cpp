// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/paged.hpp"

#include "workloads/attention/block.hpp"
#include "workloads/attention/flash2.hpp"
#include "workloads/attention/work_list.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

namespace {

constexpr int warps = 4, block_n = 64, rows = 16;
constexpr std::int64_t rows_of_lane = 2;

std::int64_t padded_head(const Problem& p) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(p.head_dim)));
}

struct Paged {
    const Problem& problem;  ///< its queries are the heads of a group
    std::int64_t splits;
    mk::Kernel& kernel;
    Builder builder{kernel};
    Body body{builder};
    Id q = mk::no_id, k = mk::no_id, v = mk::no_id, table = mk::no_id, parts = mk::no_id, sums = mk::no_id;
    Id copies = mk::no_id, barrier = mk::no_id;

    [[nodiscard]] std::int64_t head() const { return padded_head(problem); }
    /// Copies of 16 bytes of a lane for a block of keys or values.
    [[nodiscard]] std::int64_t copies_of_block() const {
        return block_n * head() * hw::bytes_of(problem.dtype) / (widest * lanes * warps);
    }

    void add_buffers() {
        const Problem& p = problem;
        q = add_heads(builder, "q", p.dtype, p.head_dim, p.sq, p.q_heads());
        k = add_heads(builder, "k", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
        v = add_heads(builder, "v", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
        table = add_heads(builder, "table", Dtype::int32, ceil_div(p.sk, p.page_size), p.batch, 1);
        parts = add_heads(builder, "parts", Dtype::fp32, p.head_dim, p.sq, p.q_heads() * splits);
        sums = add_heads(builder, "sums", Dtype::fp32, 1, p.sq, p.q_heads() * splits);
        mk::Buffer& shared = builder.buffer();
        shared.name = "tiles";
        shared.space = mk::Space::shared;
        shared.dtype = p.dtype;
        shared.extent[0] = 2 * block_n * head();
        shared.swizzle_bytes = 128;
        // K, V and Q, the page numbers of each lane, and rows and scores that warps exchange.
        const std::int64_t beside = head() > 64 ? 6400 : 4352;
        kernel.dynamic_shared = shared.bytes() + beside;
    }

    [[nodiscard]] mk::Index key(std::int64_t ahead) {
        mk::Index index = builder.begin(ahead * block_n);
        builder.add(index, mk::Variable::item_begin, block_n);
        builder.add(index, mk::Variable::loop, block_n);
        return index;
    }

    void copy_block(Id buffer, std::int64_t ahead, bool in_loop) {
        // A lane's page number, and the address of each of its rows.
        const std::int64_t of_lane = copies_of_block();
        const Id page = body.add(InstructionClass::ld_shared, of_lane / 2);
        const Id placed = body.add(InstructionClass::mad_s32, 4 * of_lane, page, mk::no_id, 4);
        mk::Op& op = builder.op(InstructionClass::cp_async);
        op.dtype = problem.dtype;
        op.count = of_lane;
        op.completes = copies;
        op.dep_count = 1;
        op.deps[0] = {placed, 0};
        if (in_loop) guard_trip(builder, kernel, ahead);
        body.box(buffer, mk::Direction::read, key(ahead), builder.variable(mk::Variable::tile, 1, 2),
                 problem.head_dim, block_n);
        builder.signal(copies, mk::SignalOn::issue);
    }

    void copy_pages(std::int64_t ahead, bool in_loop) {
        mk::Op& op = builder.op(InstructionClass::cp_async);
        op.dtype = Dtype::int32;
        op.count = copies_of_block();
        op.completes = copies;
        if (in_loop) guard_trip(builder, kernel, ahead);
        mk::Access& access = builder.access();
        access.buffer = table;
        access.pattern = mk::PatternKind::collective;
        access.rank = 3;
        access.bytes = 4;
        access.bounds = mk::Bounds::zero_fill;
        access.origin[0] = builder.floordiv(key(ahead), problem.page_size);
        access.origin[1] = builder.modulo(builder.variable(mk::Variable::tile, 1, 2), problem.batch);
        access.box = {std::max<std::int64_t>(1, block_n / problem.page_size), 1, 1, 1, 1};
    }

    /// Rows of all warps' keys together: through shared memory, with a barrier before and behind.
    Id across_warps(Id own) {
        const Id stored = body.add(InstructionClass::st_shared, rows_of_lane, own);
        body.meet(barrier);
        const Id read = body.add(InstructionClass::ld_shared, rows_of_lane, stored);
        body.meet(barrier);
        return body.add(InstructionClass::shfl, rows_of_lane, read, mk::no_id, rows_of_lane);
    }

    void add_trip() {
        const std::int64_t products = rows * block_n * head() / (16 * 8 * 16 * warps);
        const std::int64_t scores = rows * block_n / (lanes * warps);
        const std::int64_t outputs = rows * head() / (lanes * warps);
        builder.wait(copies, 0);
        body.meet(barrier);
        const Id operands = body.add(InstructionClass::ldmatrix, 2 * head() / 16);
        const Id score = body.products(problem.dtype, products, operands);
        copy_pages(2, true);
        body.meet(barrier);
        copy_block(k, 1, true);
        body.add(InstructionClass::add_s32, 100);
        const Id scaled = body.add(InstructionClass::mul_f32, scores, score);
        const Id masked = body.add(InstructionClass::compare_select, 2 * scores, scaled);
        const Id most = body.add(InstructionClass::shfl, 2 * rows_of_lane, masked, mk::no_id, 2);
        const Id all = across_warps(most);
        const Id shifted = body.add(InstructionClass::add_f32, scores + rows_of_lane, all);
        const Id powers = body.add(InstructionClass::mufu, scores + rows_of_lane, shifted);
        const Id added = body.add(InstructionClass::add_f32, scores, powers, mk::no_id, scores / 2);
        const Id own = body.add(InstructionClass::shfl, 2 * rows_of_lane, added, mk::no_id, 2);
        const Id norm = across_warps(own);
        body.add(InstructionClass::mul_f32, outputs, norm);
        const Id packed = body.add(InstructionClass::convert_pack, scores / 2, powers);
        const Id staged = body.add(InstructionClass::stmatrix, 1, packed);
        body.meet(barrier);
        const Id weights = body.add(InstructionClass::ldmatrix, block_n / 16 + head() / 16, staged);
        body.products(problem.dtype, products, weights, norm);
        body.meet(barrier);
        copy_block(v, 1, true);
    }

    void add_role() {
        builder.role("warps", warps);
        const Id places = body.add(InstructionClass::add_s32, 200, mk::no_id, mk::no_id, 80);
        const mk::Index head_of = builder.variable(mk::Variable::tile, 1, 2);
        const Id loaded = body.add(InstructionClass::ld_global,
                                   std::max<std::int64_t>(1, rows * head() / (8 * lanes * warps)), places);
        body.box(q, mk::Direction::read, Builder::constant(0), head_of, problem.head_dim, rows);
        body.add(InstructionClass::st_shared, 2, loaded);
        copy_pages(0, false);
        copy_pages(1, false);
        builder.signal(copies, mk::SignalOn::issue);
        builder.wait(copies, 0);
        body.meet(barrier);
        copy_block(k, 0, false);
        copy_block(v, 0, false);
        mk::Index trips = builder.begin();
        builder.add(trips, mk::Variable::item_end);
        builder.add(trips, mk::Variable::item_begin, -1);
        builder.loop(trips);
        add_trip();
        builder.end();
        mk::Index part = builder.begin();
        builder.add(part, mk::Variable::tile, 1, 2);
        builder.add(part, mk::Variable::tile, problem.q_heads(), 1);
        const std::int64_t outputs = rows * head() / (lanes * warps);
        const Id inverse = body.add(InstructionClass::mufu, 2 * rows_of_lane);
        const Id scaled = body.add(InstructionClass::mul_f32, outputs, inverse);
        mk::Op& store = builder.op(InstructionClass::st_global);
        store.dtype = Dtype::fp32;
        store.count = std::max<std::int64_t>(1, outputs / 2);
        store.returns = false;
        store.dep_count = 1;
        store.deps[0] = {scaled, 0};
        body.box(parts, mk::Direction::write, Builder::constant(0), part, problem.head_dim, rows);
        mk::Op& rest = builder.op(InstructionClass::st_global);
        rest.dtype = Dtype::fp32;
        rest.returns = false;
        rest.dep_count = 1;
        rest.deps[0] = {inverse, 0};
        body.box(sums, mk::Direction::write, Builder::constant(0), part, 1, rows);
        builder.finish();
    }
};

/// One CTA a head: weights of the pieces, their sum, one result.
void lower_pieces(const Problem& p, std::int64_t splits, mk::Kernel& kernel) {
    const std::int64_t heads = p.q_heads() * p.sq;
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(splits)));
    kernel.name = "paged_combine";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * warps, 1, 1};
    kernel.registers_per_thread = splits > 16 ? 62 : splits > 4 ? 32 : splits > 2 ? 22 : splits > 1 ? 21 : 16;
    kernel.static_shared = splits > 2 ? 2048 : splits > 1 ? 1024 : 0;
    kernel.grid = {heads, 1, 1};
    kernel.schedule.tiles = {heads, 1, 1, 1};
    Builder b(kernel);
    Body body(b);
    const Id parts = add_heads(b, "parts", Dtype::fp32, p.head_dim, splits, heads);
    const Id sums = add_heads(b, "sums", Dtype::fp32, splits, 1, heads);
    const Id out = add_heads(b, "out", p.dtype, p.head_dim, 1, heads);
    b.role("warps", warps);
    const mk::Index head = b.variable(mk::Variable::tile, 1);
    const std::int64_t of_lane = std::max<std::int64_t>(1, padded * padded_head(p) / (4 * lanes * warps));
    const Id places = body.add(InstructionClass::add_s32, 40, mk::no_id, mk::no_id, 20);
    const Id weights = body.add(InstructionClass::ld_global, 1, places);
    body.box(sums, mk::Direction::read, Builder::constant(0), head, splits, 1);
    const Id loaded = body.add(InstructionClass::ld_global, of_lane, places);
    body.box(parts, mk::Direction::read, Builder::constant(0), head, p.head_dim, splits);
    const auto levels = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(padded))) - 1;
    const Id most = body.add(InstructionClass::shfl, std::max<std::int64_t>(1, 2 * levels), weights,
                             mk::no_id, std::max<std::int64_t>(1, 2 * levels));
    const Id powers = body.add(InstructionClass::mufu, 5, most);
    const Id scaled = body.add(InstructionClass::mul_f32, 4 * of_lane, powers, loaded);
    const Id added = body.add(InstructionClass::add_f32, 4 * of_lane, scaled, mk::no_id, of_lane);
    const Id stored = body.add(InstructionClass::st_shared, 4, added);
    const Id met = body.add(InstructionClass::bar_sync, 2, stored);
    const Id read = body.add(InstructionClass::ld_shared, 4, met);
    const Id packed = body.add(InstructionClass::convert_pack, 1, read);
    mk::Op& store = b.op(InstructionClass::st_global);
    store.dtype = p.dtype;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {packed, 0};
    body.box(out, mk::Direction::write, Builder::constant(0), head, p.head_dim, 1);
    b.finish();
}

}  // namespace

std::int64_t paged_splits(const Problem& p, std::int64_t sms) {
    const std::int64_t blocks = ceil_div(p.sk, block_n);
    const std::int64_t wanted = std::min(blocks, std::max<std::int64_t>(1, 2 * sms / (p.batch * p.kv_heads)));
    return ceil_div(blocks, ceil_div(blocks, wanted));
}

void lower_paged(const Problem& given, const hw::Gpu& gpu, mk::Program& program) {
    const Problem problem = as_grouped(given);
    const std::int64_t splits = paged_splits(given, static_cast<std::int64_t>(gpu.sm.count.value()));
    mk::Kernel& kernel = program.add_kernel();
    kernel.name = "paged_decode";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * warps, 1, 1};
    kernel.registers_per_thread = padded_head(problem) > 64 ? 128 : 80;
    kernel.grid = {problem.batch, problem.kv_heads, splits};
    set_split_blocks(problem, rows, block_n, static_cast<int>(splits), kernel.schedule);
    Paged paged{problem, splits, kernel};
    paged.add_buffers();
    paged.copies = add_copy_groups(paged.builder, 4);
    paged.barrier = add_barrier(paged.builder, warps);
    paged.add_role();
    lower_pieces(problem, splits, program.add_kernel());
}

}  // namespace warptime::workloads::attention
