// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/block.hpp"
#include "workloads/attention/flash2.hpp"
#include "workloads/attention/work_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

namespace {

/// Integer instructions before the first copy and behind the last product: sizes of the sequence, the CTA's
/// place, iterators, and for ragged lengths the rows that exist. The divisions of the head by its group
/// depend on one another. SASS of flash_fwd_kernel for sm_90 with heads of 128.
constexpr std::int64_t before = 300, before_ragged = 510, behind = 85, behind_ragged = 190;
constexpr std::int64_t chain_of_places = 120;

/// Moves, spilled registers and column numbers of masked blocks, for each score: of the first block, and of
/// later ones, which the compiler joins to it by moves. SASS of flash_fwd_kernel for sm_90 with a causal
/// mask: 171 instructions more than in the loop for 64 scores of a lane in the first, 547 in the second; 496
/// for the 128 scores of the only one with heads of 64. Two of them for each score are the mask.
constexpr std::int64_t moves_of_first = 1, moves_of_later = 7;

constexpr std::int64_t most_trips = std::int64_t{1} << 40;

struct Forward {
    const Problem& problem;
    const AttentionTile& tile;
    int splits;  ///< 0: keys are not split
    mk::Kernel& kernel;
    Builder builder{kernel};
    Body body{builder};
    BlockCounts counts = counts_of(problem, tile);
    Id q = mk::no_id, k = mk::no_id, v = mk::no_id, out = mk::no_id, lse = mk::no_id, table = mk::no_id;
    Id copies = mk::no_id, barrier = mk::no_id;

    void add_buffers() {
        const Problem& p = problem;
        q = add_heads(builder, "q", p.dtype, p.head_dim, p.sq, p.q_heads());
        k = add_heads(builder, "k", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
        v = add_heads(builder, "v", p.dtype, p.head_dim, p.sk, p.batch * p.kv_heads);
        const std::int64_t pieces = std::max(1, splits);
        out = add_heads(builder, "out", splits > 0 ? Dtype::fp32 : p.dtype, p.head_dim, p.sq,
                        p.q_heads() * pieces);
        lse = add_heads(builder, "lse", Dtype::fp32, 1, p.sq, p.q_heads() * pieces);
        if (p.page_size > 0) {
            table = add_heads(builder, "table", Dtype::int32, ceil_div(p.sk, p.page_size), p.batch, 1);
        }
        mk::Buffer& shared = builder.buffer();
        shared.name = "tiles";
        shared.space = mk::Space::shared;
        shared.dtype = p.dtype;
        shared.extent[0] = std::int64_t{tile.m + 2 * tile.n} * tile.head;
        shared.swizzle_bytes = 128;
        kernel.dynamic_shared = tile.shared > 0 ? tile.shared : shared.bytes();
    }

    void add_tokens() {
        copies = add_copy_groups(builder, 2);
        barrier = add_barrier(builder, tile.warps);
    }

    /// First key of the block `ahead` trips after number `done` of the loop; blocks come from the last to the
    /// first.
    [[nodiscard]] mk::Index key(std::int64_t done, bool in_loop) {
        mk::Index index = builder.begin(-tile.n * (1 + done));
        builder.add(index, mk::Variable::item_end, tile.n);
        if (in_loop) builder.add(index, mk::Variable::loop, -tile.n);
        return index;
    }

    /// Copies a block of keys; `next`: the one after number `done`, where there is one.
    void copy(Id buffer, std::int64_t done, bool next, bool in_loop, const mk::Index& head) {
        add_page_of_block(next ? done + 1 : 0);
        mk::Op& op = builder.op(InstructionClass::cp_async);
        op.dtype = problem.dtype;
        op.count = counts.copies_k;
        op.completes = copies;
        if (next) guard_trip(builder, kernel, done + 1);
        body.box(buffer, mk::Direction::read, key(done + (next ? 1 : 0), in_loop), head, tile.head, tile.n);
        builder.signal(copies, mk::SignalOn::issue);
    }

    /// Two entries of the page table, this block's and the last one's, whose distance moves the pointer of
    /// the copies (advance of K and V in csrc/flash_attn/src/flash_fwd_kernel.h).
    void add_page_of_block(std::int64_t ahead) {
        if (problem.page_size == 0) return;
        constexpr std::int64_t of_distance = 20;
        mk::Op& load = builder.op(InstructionClass::ld_global);
        load.dtype = Dtype::int32;
        load.count = 2;
        const Id loaded = builder.last_op();
        if (ahead > 0) guard_trip(builder, kernel, ahead);
        mk::Access& access = builder.access();
        access.buffer = table;
        access.pattern = mk::PatternKind::broadcast;
        access.bytes = 4;
        access.step = 1;
        body.add(InstructionClass::mad_s32, of_distance, loaded, mk::no_id, of_distance / 4);
    }

    /// ldmatrix and products over the steps of 16. The first step's operands come before its products, later
    /// ones during the products before them.
    Id multiply(std::int64_t loads, std::int64_t steps, Id other) {
        const std::int64_t first = std::max<std::int64_t>(1, loads / std::max<std::int64_t>(1, steps));
        const Id operands = body.add(InstructionClass::ldmatrix, first, other);
        body.add(InstructionClass::ldmatrix, loads - first);
        return body.products(problem.dtype, counts.products, operands, other);
    }

    /// One block of keys, after `done` blocks outside of the loop.
    void add_trip(const mk::Index& kv, std::int64_t done, bool masked) {
        builder.wait(copies, 0);
        body.meet(barrier);
        copy(v, done, false, true, kv);
        const Id scores = multiply(counts.loads_q + counts.loads_k, tile.head / 16, mk::no_id);
        builder.wait(copies, 0);
        body.meet(barrier);
        copy(k, done, true, true, kv);
        body.add(InstructionClass::add_s32, tile.aside);
        const Id packed = add_softmax(body, counts, masked ? add_mask(scores, done) : scores);
        multiply(counts.loads_k, tile.n / 16, packed);
    }

    /// For each score of block `done`, or of the mean masked block where they are the loop's first trips.
    [[nodiscard]] std::int64_t moves_of_masked(std::int64_t done) const {
        if (apart()) return done == 0 ? moves_of_first : moves_of_later;
        return (moves_of_first + (masked_blocks() - 1) * moves_of_later) / masked_blocks();
    }

    /// Masks the scores of a block: of each that stands outside of the loop, of the first ones in it.
    Id add_mask(Id scores, std::int64_t done) {
        if (!apart()) {
            mk::Index left = builder.begin(lanes * masked_blocks());
            builder.add(left, mk::Variable::loop, -lanes);
            builder.branch({});
            builder.lanes(builder.clamp(left, 0, lanes));
        }
        const Id masked = body.add(InstructionClass::compare_select, of_masked_score * counts.scores, scores);
        if (problem.causal) body.add(InstructionClass::move, moves_of_masked(done) * counts.scores);
        if (!apart()) builder.end();
        return masked;
    }

    /// The first blocks of keys, whose scores are masked: along the diagonal, and the last one of a ragged
    /// length. They have code of their own, also where nothing is compared.
    [[nodiscard]] std::int64_t masked_blocks() const {
        return problem.causal ? ceil_div(tile.m, tile.n) + (ragged() ? 1 : 0) : 1;
    }
    /// Whether masked blocks stand before the loop: where there are no others, and where the code is so long
    /// that each CTA fetches it anew (SASS for sm_90 with heads of 128: 128 kB with a mask and ragged
    /// lengths, 86 kB with a mask, 54 and 67 kB without one). Otherwise they are the loop's first trips,
    /// since the trips of the SM's other CTA hide what they wait for.
    [[nodiscard]] bool apart() const {
        return (problem.causal && ragged()) || blocks_of_keys() <= masked_blocks();
    }
    [[nodiscard]] bool ragged() const { return problem.sk % tile.n != 0 || problem.sq % tile.m != 0; }
    [[nodiscard]] std::int64_t blocks_of_keys() const { return ceil_div(problem.sk, tile.n); }
    [[nodiscard]] bool compares() const { return problem.causal || problem.sk % tile.n != 0; }

    void add_result() {
        const Id sums = body.add(InstructionClass::shfl, 2 * counts.rows, mk::no_id, mk::no_id, 2);
        const Id inverse = body.add(InstructionClass::mufu, 2 * counts.rows, sums);
        const Id scaled = body.add(InstructionClass::mul_f32, counts.outputs, inverse);
        const bool wide = splits > 0;
        const Id packed =
            wide ? scaled : body.add(InstructionClass::convert_pack, counts.outputs / 2, scaled);
        // The tile passes through shared memory, so that each lane stores 16 bytes.
        const std::int64_t words = wide ? counts.outputs : counts.outputs / 2;
        const Id staged = body.add(InstructionClass::st_shared, words, packed);
        const Id met = body.add(InstructionClass::bar_sync, 1, staged);
        const Id read = body.add(InstructionClass::ld_shared, std::max<std::int64_t>(1, words / 4), met);
        body.add(InstructionClass::add_s32, ragged() ? behind_ragged : behind);
        mk::Op& store = builder.op(InstructionClass::st_global);
        store.dtype = wide ? Dtype::fp32 : problem.dtype;
        store.count = std::max<std::int64_t>(1, words / 4);
        store.returns = false;
        store.dep_count = 1;
        store.deps[0] = {read, 0};
        body.box(out, mk::Direction::write, row(), result_head(), problem.head_dim, tile.m);
        mk::Op& sums_out = builder.op(InstructionClass::st_global);
        sums_out.dtype = Dtype::fp32;
        sums_out.count = 1;
        sums_out.returns = false;
        sums_out.dep_count = 1;
        sums_out.deps[0] = {inverse, 0};
        body.box(lse, mk::Direction::write, row(), result_head(), 1, tile.m);
    }

    [[nodiscard]] mk::Index trips_after(std::int64_t done) {
        mk::Index trips = builder.begin(-done);
        builder.add(trips, mk::Variable::item_end);
        builder.add(trips, mk::Variable::item_begin, -1);
        return trips;
    }

    [[nodiscard]] mk::Index row() { return builder.variable(mk::Variable::tile, tile.m); }
    [[nodiscard]] mk::Index result_head() {
        mk::Index index = builder.begin();
        builder.add(index, mk::Variable::tile, 1, 2);
        if (splits > 0) builder.add(index, mk::Variable::tile, problem.q_heads(), 1);
        return index;
    }

    void add_role() {
        builder.role("warps", tile.warps);
        const Id places = body.add(InstructionClass::add_s32, ragged() ? before_ragged : before, mk::no_id,
                                   mk::no_id, chain_of_places);
        mk::Op& op = builder.op(InstructionClass::cp_async);
        op.dtype = problem.dtype;
        op.count = counts.copies_q;
        op.completes = copies;
        op.dep_count = 1;
        op.deps[0] = {places, 0};
        body.box(q, mk::Direction::read, row(), builder.variable(mk::Variable::tile, 1, 2), tile.head,
                 tile.m);
        const mk::Index kv = kv_head(builder, problem);
        copy(k, 0, false, false, kv);
        const std::int64_t own = apart() ? masked_blocks() : 0;
        for (std::int64_t done = 0; done < own; ++done) {
            builder.loop(builder.clamp(trips_after(done), 0, 1));
            add_trip(kv, done, compares());
            builder.end();
        }
        builder.loop(builder.clamp(trips_after(own), 0, most_trips));
        add_trip(kv, own, !apart() && compares());
        builder.end();
        add_result();
        builder.finish();
    }
};

}  // namespace

int splits_of_keys(std::int64_t blocks, std::int64_t slots, std::int64_t key_blocks, int most) {
    if (static_cast<float>(blocks) >= 0.8F * static_cast<float>(slots)) return 1;
    const auto limit = static_cast<int>(std::min({std::int64_t{most}, slots, key_blocks}));
    std::vector<float> use(static_cast<std::size_t>(limit) + 1, 0.0F);
    float best = 0.0F;
    for (int s = 1; s <= limit; ++s) {
        const bool same = s > 1 && ceil_div(key_blocks, s) == ceil_div(key_blocks, s - 1);
        if (same) continue;
        const float waves = static_cast<float>(blocks * s) / static_cast<float>(slots);
        use[static_cast<std::size_t>(s)] = waves / std::ceil(waves);
        best = std::max(best, use[static_cast<std::size_t>(s)]);
    }
    for (int s = 1; s <= limit; ++s) {
        if (use[static_cast<std::size_t>(s)] > 0.0F && use[static_cast<std::size_t>(s)] >= 0.85F * best)
            return s;
    }
    return 1;
}

Problem as_grouped(const Problem& problem) {
    Problem p = problem;
    if (p.sq == 1) {
        p.causal = false;  // the only query sees all keys
        if (p.heads > p.kv_heads) {
            p.sq = p.group();
            p.heads = p.kv_heads;
        }
    }
    return p;
}

void lower_flash2_forward(const Problem& problem, const AttentionTile& tile, mk::Kernel& kernel) {
    kernel.name = "flash_fwd";
    set_launch(tile, kernel);
    const std::int64_t blocks = ceil_div(problem.sq, tile.m);
    kernel.grid = {blocks, problem.batch, problem.heads};
    set_query_blocks(problem, tile.m, tile.n, kernel.schedule);
    Forward forward{problem, tile, 0, kernel};
    forward.add_buffers();
    forward.add_tokens();
    forward.add_role();
}

void lower_flash2_split(const Problem& problem, const AttentionTile& tile, int splits, mk::Kernel& kernel) {
    kernel.name = "flash_fwd_splitkv";
    set_launch(tile, kernel);
    const std::int64_t blocks = ceil_div(problem.sq, tile.m);
    kernel.grid = {blocks, splits, problem.q_heads()};
    set_split_blocks(problem, tile.m, tile.n, splits, kernel.schedule);
    Forward forward{problem, tile, splits, kernel};
    forward.add_buffers();
    forward.add_tokens();
    forward.add_role();
}

}  // namespace warptime::workloads::attention
