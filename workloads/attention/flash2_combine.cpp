// The reduction of split keys: partial results in fp32, weighted by their log-sum-exp, become one result.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/block.hpp"
#include "workloads/attention/flash2.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

namespace {

/// Instructions beside loads, products and sums: before the first barrier, between barriers, of a trip and
/// behind the loop. A dozen integer divisions are among them. SASS of flash_fwd_splitkv_combine_kernel for
/// sm_90 with heads of 128: 376, 644, 20 and 80 in all.
constexpr std::int64_t before_barrier = 360, between_barriers = 550, of_trip = 12, behind_loop = 70;

/// Rows of a CTA: its 128 threads load 512 numbers at a time (flash_fwd_launch_template.h).
std::int64_t rows_of_cta(int head) {
    return head % 128 == 0 ? 4 : head % 64 == 0 ? 8 : 16;
}

}  // namespace

void lower_flash2_combine(const Problem& p, const AttentionTile& tile, int splits, mk::Kernel& kernel) {
    constexpr int warps = 4;
    constexpr int registers = 56;
    constexpr std::int64_t threads = lanes * warps, vector = 4;
    const std::int64_t rows = p.q_heads() * p.sq;
    const std::int64_t of_cta = rows_of_cta(tile.head);
    kernel.name = "flash_fwd_splitkv_combine";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {threads, 1, 1};
    kernel.registers_per_thread = registers;
    kernel.grid = {ceil_div(rows, of_cta), 1, 1};
    kernel.schedule.tiles = {kernel.grid.x, 1, 1, 1};
    kernel.schedule.k_iterations = splits;
    // The log-sum-exp of all splits, padded to a power of two.
    std::int64_t padded = 2;
    while (padded < splits) padded *= 2;
    kernel.static_shared = padded * (of_cta + 1) * hw::bytes_of(Dtype::fp32);

    Builder builder(kernel);
    Body body(builder);
    const Id parts = add_heads(builder, "parts", Dtype::fp32, p.head_dim, rows, splits);
    const Id sums = add_heads(builder, "lse", Dtype::fp32, 1, rows, splits);
    const Id out = add_heads(builder, "out", p.dtype, p.head_dim, rows, 1);
    for (const Id buffer : {parts, sums}) written_by(kernel, buffer, 0);
    const Id barrier = add_barrier(builder, warps);

    builder.role("warps", warps);
    const mk::Index row = builder.variable(mk::Variable::tile, of_cta);
    const mk::Index zero = Builder::constant(0);
    const Id places =
        body.add(InstructionClass::add_s32, before_barrier, mk::no_id, mk::no_id, before_barrier / 2);
    const std::int64_t of_lane = std::max<std::int64_t>(1, padded * of_cta / threads);
    const Id loaded = body.add(InstructionClass::ld_global, of_lane, places);
    body.box(sums, mk::Direction::read, row, zero, 1, of_cta);
    kernel.accesses.back().box[2] = splits;
    const Id stored = body.add(InstructionClass::st_shared, of_lane, loaded);
    (void)stored;
    body.meet(barrier);
    const Id read = body.add(InstructionClass::ld_shared, of_lane);
    const Id most = body.add(InstructionClass::shfl, 5, read, mk::no_id, 5);
    const Id exponentials = body.add(InstructionClass::mufu, of_lane + 2, most);
    const Id total = body.add(InstructionClass::shfl, 5, exponentials, mk::no_id, 5);
    const Id scales = body.add(InstructionClass::st_shared, of_lane, total);
    (void)scales;
    // Where the row's log-sum-exp belongs.
    body.add(InstructionClass::add_s32, between_barriers, mk::no_id, mk::no_id, between_barriers / 2);
    body.meet(barrier);
    // Each trip adds one split's rows.
    const std::int64_t outputs = std::max<std::int64_t>(1, of_cta * tile.head / threads);
    builder.loop(builder.variable(mk::Variable::item_end));
    const Id part = body.add(InstructionClass::ld_global, std::max<std::int64_t>(1, outputs / vector));
    body.box(parts, mk::Direction::read, row, builder.variable(mk::Variable::loop), p.head_dim, of_cta);
    const Id scale = body.add(InstructionClass::ld_shared, 1);
    body.add(InstructionClass::fma_f32, outputs, part, scale);
    body.add(InstructionClass::add_s32, of_trip);
    builder.end();
    const Id placed = body.add(InstructionClass::add_s32, behind_loop, mk::no_id, mk::no_id, behind_loop / 2);
    const Id packed =
        body.add(InstructionClass::convert_pack, std::max<std::int64_t>(1, outputs / 2), placed);
    mk::Op& store = builder.op(InstructionClass::st_global);
    store.dtype = p.dtype;
    store.count = std::max<std::int64_t>(1, outputs / vector);
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {packed, 0};
    body.box(out, mk::Direction::write, row, zero, p.head_dim, of_cta);
    builder.finish();
}

}  // namespace warptime::workloads::attention
