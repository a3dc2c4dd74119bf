// How a library's fp32 kernel brings its tile to memory.
// A whole tile passes through shared memory element by element, each with its own bounds, pointer and clamps.
// A part of a split is stored as it lies in the registers. The last CTA of a tile may add up such parts.
// Ignores: the cost of a second operand (beta). The fence by which the last CTA knows its turn.
// Source: SASS of the xmma kernels of eight tiles in cuBLASLt 13.1. Each element of a lane takes 10
// instructions: a load, a multiply-add, two clamps, two comparisons, three additions and a store. Parts of a
// split are fetched 16 bytes a lane, one split after another.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/block_epilogue.hpp"

#include "workloads/gemm/fused.hpp"
#include "workloads/gemm/lane_block.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/reduction.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::int64_t at_once = 4;  // elements of a 16-byte access

mk::Op op_after(InstructionClass cls, std::int64_t count, mk::Id before) {
    mk::Op op;
    op.cls = cls;
    op.dtype = Dtype::fp32;
    op.count = std::max<std::int64_t>(1, count);
    op.dep_count = before == mk::no_id ? 0 : 1;
    op.deps[0] = {before, 0};
    return op;
}

/// How often the sum of one split waits for its loads. The compiler usually issues all loads together. Lanes
/// that hold 64 elements need 16 loads; in tiles with one warp along M these loads go out in three rounds.
/// Each round waits for the one before (SASS of ten tiles: five loads, four, then the rest). Measured: 0.8 us
/// a split with tiles of 64x256, 0.35 us with 128x128.
std::int64_t rounds_of_split(std::int64_t elements, const Config& c) {
    constexpr std::int64_t many = 64, rounds = 3;
    constexpr int two_warps_from = 128;
    return elements >= many && c.cta_m < two_warps_from ? rounds : 1;
}

mk::Op store_after(std::int64_t count, mk::Id before) {
    mk::Op store = op_after(InstructionClass::st_global, count, before);
    store.returns = false;
    return store;
}

}  // namespace

void add_element_stores(mk::Builder& b, std::int64_t elements, int passes, mk::Id before) {
    const mk::Id scaled = b.op(op_after(InstructionClass::fma_f32, elements, before));
    const mk::Id staged = b.op(op_after(InstructionClass::st_shared, elements / at_once, scaled));
    const mk::Id met = b.op(op_after(InstructionClass::bar_sync, 2 * std::int64_t{passes}, staged));
    b.op(op_after(InstructionClass::add_s32, 3 * elements, met));
    const mk::Id loaded = b.op(op_after(InstructionClass::ld_shared, elements, met));
    const mk::Id added = b.op(op_after(InstructionClass::fma_f32, elements, loaded));
    const mk::Id clamped = b.op(op_after(InstructionClass::compare_select, 4 * elements, added));
    b.op(store_after(elements, clamped));
}

mk::Id add_sum_of_splits(mk::Builder& b, std::int64_t elements, const Config& c,
                         const mk::Access& partial_sums, mk::Id before) {
    const std::int64_t splits = c.split_k;
    mk::Op load = op_after(InstructionClass::ld_global, splits * elements / at_once, before);
    load.chain = std::min(load.count, splits * rounds_of_split(elements, c));
    mk::Op add = op_after(InstructionClass::add_f32, splits * elements, b.op(load, {partial_sums}));
    add.chain = std::min(add.count, splits);
    return b.op(add);
}

void add_block_epilogue(Parts& parts) {
    const Config& c = parts.config;
    mk::Builder& b = parts.builder;
    const LaneBlock block = lane_block(c);
    const std::int64_t elements = std::int64_t{block.rows} * block.columns;
    const int passes = store_passes(c);
    const FusedTile tile{parts.tile_m, parts.tile_n, parts.batch, c.cta_n, c.cta_m};
    if (parts.workspace == mk::no_id) {
        add_element_stores(b, elements, passes,
                           add_fused(b, parts.problem, tile, elements, c.warps, mk::no_id));
        add_store_access(parts);
        return;
    }
    b.op(store_after(elements / at_once, mk::no_id));
    add_store_access(parts);
    if (c.reduction != Reduction::last_cta) return;
    const mk::Id partial = b.buffer(partial_sums(parts.problem, c.split_k));
    mk::Branch last;
    last.warps_taking = 1.0 / c.split_k;
    b.branch(last);
    const mk::Index slice = b.index(0, {mk::Term{.coefficient = c.split_k, .position = 2}});
    const mk::Id sum = add_sum_of_splits(b, elements, c,
                                         box_of_sums(partial, parts.tile_m, parts.tile_n, slice,
                                                     {c.cta_n, c.cta_m, c.split_k}, mk::Direction::read),
                                         mk::no_id);
    add_element_stores(b, elements, passes, add_fused(b, parts.problem, tile, elements, c.warps, sum));
    Parts whole = parts;
    whole.workspace = mk::no_id;
    add_store_access(whole);
    b.end();
}

}  // namespace warptime::workloads::gemm
