// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/lean_reduction.hpp"

#include "workloads/attention/block.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

void lower_lean_reduction(const Problem& p, int splits, mk::Kernel& kernel) {
    constexpr std::int64_t warps = 8, of_places = 60, numbers_of_part = 2;
    const std::int64_t queries = p.q_heads() * p.sq;
    const std::int64_t numbers = std::int64_t{splits} * p.head_dim;
    kernel.name = "lean_reduction";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {lanes * warps, 1, 1};
    kernel.registers_per_thread = 32;
    // Each part, its maximum and its sum of exponentials.
    kernel.dynamic_shared = (p.head_dim + numbers_of_part) * splits * hw::bytes_of(Dtype::fp32);
    kernel.schedule.tiles = {queries, 1, 1, 1};
    kernel.grid = {queries, 1, 1};
    Builder builder(kernel);
    Body body(builder);
    const Id parts = add_heads(builder, "parts", Dtype::fp32, p.head_dim, queries, splits);
    const Id sums = add_heads(builder, "lse", Dtype::fp32, 1, queries, splits);
    const Id out = add_heads(builder, "out", p.dtype, p.head_dim, queries, 1);
    for (const Id buffer : {parts, sums}) written_by(kernel, buffer, 0);
    const Id barrier = add_barrier(builder, warps);

    builder.role("warps", warps);
    const mk::Index row = builder.variable(mk::Variable::tile);
    const mk::Index zero = Builder::constant(0);
    const std::int64_t of_lane = std::max<std::int64_t>(1, numbers / (lanes * warps));
    const std::int64_t loads = std::max<std::int64_t>(1, of_lane / 4);
    const Id places = body.add(InstructionClass::add_s32, of_places, mk::no_id, mk::no_id, of_places / 2);
    const Id loaded = body.add(InstructionClass::ld_global, loads, places);
    body.box(parts, mk::Direction::read, row, zero, p.head_dim, 1);
    kernel.accesses.back().box[2] = splits;
    const Id weighed = body.add(InstructionClass::ld_global, 1, places);
    body.box(sums, mk::Direction::read, row, zero, 1, 1);
    kernel.accesses.back().box[2] = splits;
    body.add(InstructionClass::st_shared, loads + 1, loaded, weighed);
    body.meet(barrier);
    const Id read = body.add(InstructionClass::ld_shared, 2 * splits);
    const Id weights = body.add(InstructionClass::mufu, splits, read);
    const Id added = body.add(InstructionClass::fma_f32, splits, weights, mk::no_id, splits);
    const Id packed = body.add(InstructionClass::convert_pack, 1, added);
    mk::Op& store = builder.op(InstructionClass::st_global);
    store.dtype = p.dtype;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {packed, 0};
    body.box(out, mk::Direction::write, row, zero, p.head_dim, 1);
    builder.finish();
}

}  // namespace warptime::workloads::attention
