// A product of few rows as dot products, with the rows of A in shared memory.
// Half a warp (16 lanes) takes a column of C along all of K and loads single elements.
// Ignores: the shuffles that add the lanes' sums one by one. Loops for the last elements, which the compiler
// does not unroll.
// Source: SASS of gemv2T_kernel_val and gemmSN_TN_kernel in cuBLASLt 13.1: 16 loads of one element a lane and
// turn, and two barriers. Grids and registers are those of the recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/lane_addresses.hpp"
#include "workloads/gemm/parts.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

using model::machine::lanes_per_warp;
constexpr int most_rows_at_once = 4;
constexpr std::int64_t before_rows = 70;
constexpr std::int64_t before_columns = 80;

/// Plain loads of one element a lane.
mk::Op load_of(Dtype dtype, std::int64_t count) {
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.dtype = dtype;
    load.count = std::max<std::int64_t>(1, count);
    return load;
}

/// Instructions for pointers, bounds and loop counts. Half of the instructions wait for one another.
mk::Op addresses(std::int64_t count) {
    mk::Op op;
    op.cls = InstructionClass::mad_s32;
    op.count = count;
    op.chain = count / 2;
    return op;
}

}  // namespace

void add_dot_product_role(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const Problem& p = parts.problem;
    const std::int64_t lanes = std::int64_t{c.warps} * lanes_per_warp;
    const std::int64_t of_a = std::int64_t{c.cta_m} * c.cta_k / lanes;
    const std::int64_t of_b = std::int64_t{c.cta_n} * c.cta_k / lanes;
    mk::Token barrier;
    barrier.name = "cta_barrier";
    barrier.kind = mk::TokenKind::named_barrier;
    barrier.arrivals = c.warps;
    const mk::Id barrier_id = b.token(barrier);

    b.role("warps", c.warps);
    b.loop(parts.trips);
    const mk::Id place = b.op(addresses(before_rows));
    mk::Op of_rows = load_of(p.a, of_a);
    of_rows.dep_count = 1;
    of_rows.deps[0] = {place, 0};
    const mk::Id rows = b.op(of_rows);
    add_stage_access(parts, Matrix::a, 0);
    mk::Op put;
    put.cls = InstructionClass::st_shared;
    put.count = std::max<std::int64_t>(1, of_a);
    put.dep_count = 1;
    put.deps[0] = {rows, 0};
    const mk::Id stored = b.op(put);
    mk::Op sync;
    sync.cls = InstructionClass::bar_sync;
    sync.dep_count = 1;
    sync.deps[0] = {stored, 0};
    b.op(sync);
    b.signal(barrier_id, mk::SignalOn::issue);
    b.wait(barrier_id);
    const mk::Id column_place = b.op(addresses(before_columns));
    mk::Op columns = load_of(p.b, of_b);
    columns.dep_count = 1;
    columns.deps[0] = {column_place, 0};
    // With more rows, the sums leave registers for only four elements at a time (SASS of eight rows).
    columns.chain = c.cta_m > most_rows_at_once ? std::max<std::int64_t>(1, of_b / 4) : 1;
    const mk::Id column = b.op(columns);
    add_stage_access(parts, Matrix::b, 0);
    mk::Op get;
    get.cls = InstructionClass::ld_shared;
    get.count = std::max<std::int64_t>(1, of_b * std::max(1, c.cta_m / 4));
    const mk::Id fetched = b.op(get);
    mk::Op multiply;
    multiply.cls = InstructionClass::fma_f32;
    multiply.count = of_b * c.cta_m * (hw::bytes_of(p.b) < 4 ? 2 : 1);
    multiply.chain = of_b;
    multiply.dep_count = 2;
    multiply.deps[0] = {column, 0};
    multiply.deps[1] = {fetched, 0};
    const mk::Id sums = b.op(multiply);
    mk::Op leave;
    leave.cls = InstructionClass::bar_sync;
    leave.dep_count = 1;
    leave.deps[0] = {sums, 0};
    b.op(leave);
    b.end();
    add_epilogue(parts, c.warps, false);
    b.finish();
}

}  // namespace warptime::workloads::gemm
