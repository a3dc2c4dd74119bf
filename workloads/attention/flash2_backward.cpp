// Backward of FlashAttention 2 in three kernels. Blocks of keys go round all blocks of queries that see them.
// The sums of dQ are added atomically in fp32. Where heads share keys, PyTorch adds up their dK and dV.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/block.hpp"
#include "workloads/attention/flash2.hpp"
#include "workloads/attention/work_list.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

namespace {

/// Instructions for places in the kernels before and behind the gradients. SASS for sm_90: 400 and 424 in all
/// with heads of 64, 360 and 376 with 128.
constexpr std::int64_t of_products = 240, of_conversion = 230;

/// Sums of dQ in fp32 have whole blocks of queries.
std::int64_t padded_rows(const Problem& p) {
    constexpr std::int64_t rows = 128;
    return ceil_div(p.sq, rows) * rows;
}

/// Each CTA reads a block of dO and O, adds up their products by row, and clears its sums of dQ.
void lower_products_of_rows(const Problem& p, const AttentionTile& tile, mk::Kernel& kernel) {
    kernel.name = "flash_bwd_dot_do_o";
    set_launch(tile, kernel);
    kernel.registers_per_thread = tile.rows_registers;
    const std::int64_t blocks = ceil_div(p.sq, tile.m);
    kernel.grid = {blocks, p.batch, p.heads};
    kernel.schedule.tiles = {blocks, 1, p.q_heads(), 1};
    Builder builder(kernel);
    Body body(builder);
    const Id d_out = add_heads(builder, "d_out", p.dtype, p.head_dim, p.sq, p.q_heads());
    const Id out = add_heads(builder, "out", p.dtype, p.head_dim, p.sq, p.q_heads());
    const Id sums = add_heads(builder, "d_q_sums", Dtype::fp32, tile.head, padded_rows(p), p.q_heads());
    const Id products = add_heads(builder, "products", Dtype::fp32, 1, p.sq, p.q_heads());
    builder.role("warps", tile.warps);
    const mk::Index row = builder.variable(mk::Variable::tile, tile.m);
    const mk::Index head = builder.variable(mk::Variable::tile, 1, 2);
    const std::int64_t elements = std::int64_t{tile.m} * tile.head / (lanes * tile.warps);
    const std::int64_t loads = std::max<std::int64_t>(1, elements * hw::bytes_of(p.dtype) / widest);
    const std::int64_t clears = std::max<std::int64_t>(1, elements * hw::bytes_of(Dtype::fp32) / widest);
    const Id places = body.add(InstructionClass::add_s32, of_products, mk::no_id, mk::no_id, of_products / 2);
    const Id first = body.add(InstructionClass::ld_global, loads, places);
    body.box(d_out, mk::Direction::read, row, head, tile.head, tile.m);
    const Id second = body.add(InstructionClass::ld_global, loads, places);
    body.box(out, mk::Direction::read, row, head, tile.head, tile.m);
    const Id wide = body.add(InstructionClass::shift, 2 * elements, first, second);
    const Id multiplied = body.add(InstructionClass::fma_f32, elements, wide, mk::no_id, 8);
    const Id added =
        body.add(InstructionClass::shfl, 3 * std::max<std::int64_t>(1, loads / 2), multiplied, mk::no_id, 3);
    const Id stored = body.add(InstructionClass::st_global, 1, added);
    body.box(products, mk::Direction::write, row, head, 1, tile.m);
    (void)stored;
    const Id cleared = body.add(InstructionClass::st_global, clears, places);
    (void)cleared;
    body.box(sums, mk::Direction::write, row, head, tile.head, tile.m);
    builder.finish();
}

/// Instructions for the address of an addition to dQ, and before the loop (SASS for sm_90, heads of 64 and
/// 128).
constexpr std::int64_t of_addition = 4, before_loop = 540;

struct Gradients {
    const Problem& problem;
    const AttentionTile& tile;
    mk::Kernel& kernel;
    Builder builder{kernel};
    Body body{builder};
    BlockCounts counts = counts_of(problem, tile);
    GradientBuffers of = add_gradient_buffers(builder, problem, tile.head, padded_rows(problem));
    Id tiles = mk::no_id;
    Id copies = mk::no_id, barrier = mk::no_id;

    [[nodiscard]] std::int64_t all_lanes() const { return lanes * tile.warps; }
    /// mma.sync of one of the five products of m x n x head.
    [[nodiscard]] std::int64_t products() const {
        return std::max<std::int64_t>(1,
                                      std::int64_t{tile.m} * tile.n * tile.head / (16 * 8 * 16 * tile.warps));
    }
    [[nodiscard]] std::int64_t scores() const { return std::int64_t{tile.m} * tile.n / all_lanes(); }

    void add_tiles() {
        mk::Buffer& shared = builder.buffer();
        shared.name = "tiles";
        shared.space = mk::Space::shared;
        shared.dtype = problem.dtype;
        // Two stages of Q, dO, K and V, and P and dS beside them. V in registers leaves its place to P and
        // dS.
        const std::int64_t scores_of_tile = std::int64_t{2} * tile.m * tile.n;
        const std::int64_t keys = std::int64_t{tile.n} * tile.head;
        shared.extent[0] = std::int64_t{tile.one_stage ? 2 : 3} * tile.m * tile.head + keys +
                           (tile.v_in_registers ? std::max(keys, scores_of_tile) : keys + scores_of_tile);
        shared.swizzle_bytes = 128;
        tiles = builder.last_buffer();
        kernel.dynamic_shared = shared.bytes();
    }

    void copy_rows(Id buffer, const mk::Index& row, const mk::Index& head, std::int64_t rows, bool guarded) {
        mk::Op& op = builder.op(InstructionClass::cp_async);
        op.dtype = problem.dtype;
        op.count = std::max<std::int64_t>(
            1, rows * tile.head * hw::bytes_of(problem.dtype) / (widest * all_lanes()));
        op.completes = copies;
        if (guarded) {
            guard_trip(builder, kernel, 1);
        }
        body.box(buffer, mk::Direction::read, row, head, tile.head, rows);
    }

    /// First query of the block `ahead` trips on; blocks come from the last to the first.
    [[nodiscard]] mk::Index query(std::int64_t ahead, bool in_loop) {
        mk::Index index = builder.begin(-tile.m * (1 + ahead));
        builder.add(index, mk::Variable::item_end, tile.m);
        if (in_loop) builder.add(index, mk::Variable::loop, -tile.m);
        return index;
    }

    /// Lanes add neighbouring numbers of a block's sums: 128 bytes a warp.
    void add_to_sums(const mk::Index& head) {
        mk::Access& access = builder.access();
        access.buffer = of.sums;
        access.direction = mk::Direction::atomic;
        access.pattern = mk::PatternKind::contiguous;
        access.bytes = hw::bytes_of(Dtype::fp32);
        access.step = all_lanes();
        mk::Index at = builder.scaled(query(0, true), tile.head);
        at = builder.sum(at, builder.scaled(head, padded_rows(problem) * tile.head));
        access.origin[0] = builder.sum(at, builder.variable(mk::Variable::warp, lanes));
    }

    void add_trip(const mk::Index& head) {
        builder.wait(copies, 0);
        body.meet(barrier);
        const std::int64_t per_product = std::max<std::int64_t>(1, loads() / 5);
        const Id operands = body.add(InstructionClass::ldmatrix, per_product);
        const Id score = body.products(problem.dtype, products(), operands);
        // P from the log-sum-exp.
        const Id guarded = body.add(InstructionClass::compare_select, scores() + 4, score);
        const Id scaled = body.add(InstructionClass::mul_f32, 3 * scores() + 4, guarded);
        if (problem.causal) add_mask(score);
        const Id p = body.add(InstructionClass::mufu, scores(), scaled);
        const Id differences = body.add(InstructionClass::add_f32, scores(), p);
        store_pairs(differences);
        // dS, while the next block of Q is copied to its other stage.
        body.add(InstructionClass::ldmatrix, per_product);
        const Id d_p = body.products(problem.dtype, products(), operands);
        copy_rows(of.q, query(1, true), head, tile.m, true);
        builder.signal(copies, mk::SignalOn::issue);
        const Id d_s = body.add(InstructionClass::add_f32, scores(), p, d_p);
        store_pairs(body.add(InstructionClass::mul_f32, scores(), d_s));
        body.add(InstructionClass::add_s32,
                 std::max<std::int64_t>(0, tile.aside - of_addition * additions()));
        body.meet(barrier);
        const Id d_v =
            body.products(problem.dtype, products(), body.add(InstructionClass::ldmatrix, per_product));
        // dV has read dO, whose next block takes its place during the products for dQ and dK.
        body.meet(barrier, d_v);
        copy_rows(of.d_out, query(1, true), head, tile.m, true);
        builder.signal(copies, mk::SignalOn::issue);
        const Id read = body.add(InstructionClass::ldmatrix, per_product);
        const Id d_q = body.products(problem.dtype, products(), read);
        // The next block's log-sum-exp and products, which its trip finds in registers. Four lanes share a
        // row.
        body.add(InstructionClass::ld_global, 2 * counts_rows());
        read_rows(of.lse, head);
        body.add(InstructionClass::add_s32, of_addition * additions());
        mk::Op& add = builder.op(InstructionClass::red_global);
        add.dtype = Dtype::fp32;
        add.count = additions();
        add.returns = false;
        add.dep_count = 1;
        add.deps[0] = {d_q, 0};
        add_to_sums(head);
        body.add(InstructionClass::ldmatrix, per_product);
        body.products(problem.dtype, products(), read);
    }

    /// Numbers of the next block's rows, one for four lanes.
    void read_rows(Id buffer, const mk::Index& head) {
        mk::Access& access = builder.access();
        access.buffer = buffer;
        access.pattern = mk::PatternKind::stride;
        access.bytes = hw::bytes_of(Dtype::fp32);
        access.inner_extent = 4;
        access.inner = 0;
        access.outer = 1;
        access.step = lanes / access.inner_extent;
        access.bounds = mk::Bounds::clip;
        access.origin[0] = builder.sum(query(1, true), builder.scaled(head, problem.sq));
    }

    /// A lane's additions to dQ.
    [[nodiscard]] std::int64_t additions() const { return std::int64_t{tile.m} * tile.head / all_lanes(); }

    /// A comparison and a selection for each score of the blocks along the diagonal, which come last.
    void add_mask(Id scored) {
        const std::int64_t along = ceil_div(tile.n, tile.m);
        mk::Index from = builder.begin(lanes * (along + 1));
        builder.add(from, mk::Variable::loop, lanes);
        builder.add(from, mk::Variable::item_end, -lanes);
        builder.add(from, mk::Variable::item_begin, lanes);
        builder.branch({});
        builder.lanes(builder.clamp(from, 0, lanes));
        body.add(InstructionClass::compare_select, 2 * scores(), scored);
        builder.end();
    }

    /// A lane's scores go to shared memory in 16 bits, two at a time.
    void store_pairs(Id scored) {
        const std::int64_t pairs = std::max<std::int64_t>(1, scores() / 2);
        const Id packed = body.add(InstructionClass::convert_pack, pairs, scored);
        body.add(InstructionClass::st_shared, pairs, packed);
        mk::Access& access = builder.access();
        access.buffer = tiles;
        access.direction = mk::Direction::write;
        access.bytes = 2 * hw::bytes_of(problem.dtype);
    }

    /// ldmatrix of a trip: each product's operands, of which warps of a row or column share some (SASS: 144
    /// for 64x128 with heads of 128, and for 128x128 with heads of 64).
    [[nodiscard]] std::int64_t loads() const { return products() * 5 * 144 / 320; }
    /// Numbers of a lane for its rows: log-sum-exp, and the products of dO and O.
    [[nodiscard]] std::int64_t counts_rows() const { return 4; }

    void add_role() {
        builder.role("warps", tile.warps);
        const mk::Index head = builder.variable(mk::Variable::tile, 1, 2);
        const mk::Index kv = kv_head(builder, problem);
        const mk::Index key = builder.variable(mk::Variable::tile, tile.n);
        body.add(InstructionClass::add_s32, before_loop, mk::no_id, mk::no_id, 140);
        copy_rows(of.k, key, kv, tile.n, false);
        copy_rows(of.v, key, kv, tile.n, false);
        copy_rows(of.q, query(0, false), head, tile.m, false);
        copy_rows(of.d_out, query(0, false), head, tile.m, false);
        builder.signal(copies, mk::SignalOn::issue);
        builder.loop(trips_of_item(builder));
        add_trip(head);
        builder.end();
        const std::int64_t outputs = std::int64_t{tile.n} * tile.head / all_lanes();
        for (const Id buffer : {of.d_k, of.d_v}) {
            const Id packed =
                body.add(InstructionClass::convert_pack, std::max<std::int64_t>(1, outputs / 2));
            const Id staged =
                body.add(InstructionClass::st_shared, std::max<std::int64_t>(1, outputs / 2), packed);
            const Id met = body.add(InstructionClass::bar_sync, 1, staged);
            const Id read =
                body.add(InstructionClass::ld_shared, std::max<std::int64_t>(1, outputs / 8), met);
            mk::Op& store = builder.op(InstructionClass::st_global);
            store.dtype = problem.dtype;
            store.count = std::max<std::int64_t>(1, outputs / 8);
            store.returns = false;
            store.dep_count = 1;
            store.deps[0] = {read, 0};
            body.box(buffer, mk::Direction::write, key, head, problem.head_dim, tile.n);
        }
        builder.finish();
    }
};

void lower_gradients(const Problem& p, const AttentionTile& tile, mk::Kernel& kernel) {
    kernel.name = "flash_bwd_dq_dk_dv";
    set_launch(tile, kernel);
    kernel.registers_per_thread = tile.registers;
    kernel.grid = {ceil_div(p.sk, tile.n), p.batch, p.heads};
    set_key_blocks(p, tile.m, tile.n, kernel.schedule);
    Gradients gradients{p, tile, kernel};
    gradients.add_tiles();
    gradients.copies = add_copy_groups(gradients.builder, 2);
    gradients.barrier = add_barrier(gradients.builder, tile.warps);
    gradients.add_role();
}

/// dQ from its sums: scaled, in the type of Q, through shared memory.
void lower_conversion(const Problem& p, const AttentionTile& tile, mk::Kernel& kernel) {
    kernel.name = "flash_bwd_convert_dq";
    set_launch(tile, kernel);
    kernel.registers_per_thread = tile.convert_registers;
    const std::int64_t blocks = ceil_div(p.sq, tile.m);
    kernel.grid = {blocks, p.batch, p.heads};
    kernel.schedule.tiles = {blocks, 1, p.q_heads(), 1};
    kernel.dynamic_shared = std::int64_t{tile.m} * tile.head * hw::bytes_of(p.dtype);
    Builder builder(kernel);
    Body body(builder);
    const Id sums = add_heads(builder, "d_q_sums", Dtype::fp32, tile.head, padded_rows(p), p.q_heads());
    const Id d_q = add_heads(builder, "d_q", p.dtype, p.head_dim, p.sq, p.q_heads());
    builder.role("warps", tile.warps);
    const mk::Index row = builder.variable(mk::Variable::tile, tile.m);
    const mk::Index head = builder.variable(mk::Variable::tile, 1, 2);
    const std::int64_t elements = std::int64_t{tile.m} * tile.head / (lanes * tile.warps);
    const Id places =
        body.add(InstructionClass::add_s32, of_conversion, mk::no_id, mk::no_id, of_conversion / 2);
    // The sums lie as the matrix instruction leaves them, so that a lane reads one number at a time.
    const Id loaded = body.add(InstructionClass::ld_global, elements, places);
    body.box(sums, mk::Direction::read, row, head, tile.head, tile.m);
    const Id added = body.add(InstructionClass::add_f32, elements, loaded);
    const Id scaled = body.add(InstructionClass::mul_f32, elements, added);
    const Id packed =
        body.add(InstructionClass::convert_pack, std::max<std::int64_t>(1, elements / 2), scaled);
    const Id staged = body.add(InstructionClass::st_shared, std::max<std::int64_t>(1, elements / 2), packed);
    const Id met = body.add(InstructionClass::bar_sync, 1, staged);
    const Id read = body.add(InstructionClass::ld_shared, std::max<std::int64_t>(1, elements / 8), met);
    mk::Op& store = builder.op(InstructionClass::st_global);
    store.dtype = p.dtype;
    store.count = std::max<std::int64_t>(1, elements / 8);
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {read, 0};
    body.box(d_q, mk::Direction::write, row, head, p.head_dim, tile.m);
    builder.finish();
}

/// dK or dV of the heads that share keys, added up by PyTorch's general reduction: 128 threads for 512
/// results, four of them a lane's. Source: launches of the recorded rows; instructions of `sum` along columns
/// in workloads/libraries/pytorch-2.11-reductions.toml.
void lower_sum_of_heads(const Problem& p, mk::Kernel& kernel) {
    constexpr std::int64_t warps = 4, of_lane = 4, of_cta = lanes * warps * of_lane;
    constexpr std::int64_t before = 160, each_trip = 9, behind = 80;
    const std::int64_t results = p.batch * p.sk * p.kv_heads * p.head_dim;
    kernel.name = "reduce_kernel";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * warps, 1, 1};
    kernel.registers_per_thread = 54;
    kernel.schedule.tiles = {ceil_div(results, of_cta), 1, 1, 1};
    kernel.grid = {kernel.schedule.tiles[0], 1, 1};
    Builder builder(kernel);
    Body body(builder);
    const Id parts = add_heads(builder, "parts", p.dtype, results, p.group(), 1);
    const Id sums = add_heads(builder, "sums", p.dtype, results, 1, 1);
    builder.role("warps", warps);
    const auto move_results = [&](Id buffer, mk::Direction direction, const mk::Index& row) {
        body.box(buffer, direction, row, Builder::constant(0), of_cta, 1);
        kernel.accesses.back().origin[0] = builder.variable(mk::Variable::tile, of_cta);
        kernel.accesses.back().bytes = static_cast<std::int32_t>(of_lane * hw::bytes_of(p.dtype));
    };
    const Id places = body.add(InstructionClass::add_s32, before, mk::no_id, mk::no_id, before / 2);
    builder.loop(p.group());
    const Id read = body.add(InstructionClass::ld_global, 1, places);
    move_results(parts, mk::Direction::read, builder.variable(mk::Variable::loop));
    const Id wide = body.add(InstructionClass::shift, 2 * of_lane, read);
    body.add(InstructionClass::add_f32, of_lane, wide);
    body.add(InstructionClass::add_s32, each_trip);
    builder.end();
    const Id packed = body.add(InstructionClass::convert_pack, of_lane / 2,
                               body.add(InstructionClass::add_s32, behind, mk::no_id, mk::no_id, behind / 2));
    mk::Op& store = builder.op(InstructionClass::st_global);
    store.dtype = p.dtype;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {packed, 0};
    move_results(sums, mk::Direction::write, Builder::constant(0));
    builder.finish();
}

}  // namespace

void lower_flash2_backward(const Problem& p, const AttentionTile& tile, mk::Program& program) {
    lower_products_of_rows(p, tile, program.add_kernel());
    lower_gradients(p, tile, program.add_kernel());
    lower_conversion(p, tile, program.add_kernel());
    if (p.group() == 1) return;
    for (int gradient = 0; gradient < 2; ++gradient) lower_sum_of_heads(p, program.add_kernel());
}

}  // namespace warptime::workloads::attention
