// One row of C as dot products that read straight to registers.
// A warp takes a column of C along all of K, up to 64 elements a lane at once. Lanes add up their sums in
// shared memory; each round halves the number of lanes.
// Ignores: shorter turns for the rest of K (32, 16, 4, 2 and 1 elements a lane, each with its wait). The
// model uses turns of one length instead. Blocks of 16 or 64 lanes a column.
// Source: SASS of gemvx::kernel in cuBLASLt 13.1 for fp32, fp16 and bf16. A turn has 64 loads of one element
// of B and as many of A. Then comes one sum of 64 products in series. The only barriers belong to the sum.
// Grids and registers are those of recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/stage_copies.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::int64_t lanes_of_warp = 32;

/// Adds each lane's loads of elements of the rows, or of the columns.
mk::Id add_loads(Parts& parts, Matrix matrix, std::int64_t count, mk::Id place) {
    mk::Op& load = parts.builder.op(InstructionClass::ld_global);
    load.dtype = matrix == Matrix::a ? parts.problem.a : parts.problem.b;
    load.count = count;
    load.dep_count = 1;
    load.deps[0] = {place, 0};
    const mk::Id loaded = parts.builder.last_op();
    add_stage_access(parts, matrix, 0);
    return loaded;
}

/// Adds the rounds in which one half of the lanes adds to the other half.
void add_sum_of_lanes(mk::Builder& b, const Config& c) {
    mk::Token& token = b.token();
    token.name = "cta_barrier";
    token.kind = mk::TokenKind::named_barrier;
    token.arrivals = c.warps;
    const mk::Id barrier = b.last_token();
    constexpr std::int64_t rounds = 5;
    b.loop(rounds);
    b.op(InstructionClass::bar_sync);
    b.signal(barrier, mk::SignalOn::issue);
    b.wait(barrier);
    b.op(InstructionClass::ld_shared).count = 2;
    const mk::Id read = b.last_op();
    mk::Op& add = b.op(InstructionClass::add_f32);
    add.dep_count = 1;
    add.deps[0] = {read, 0};
    const mk::Id sum = b.last_op();
    mk::Op& put = b.op(InstructionClass::st_shared);
    put.dep_count = 1;
    put.deps[0] = {sum, 0};
    b.end();
}

}  // namespace

void add_streamed_columns_role(Parts& parts) {
    constexpr std::int64_t before_loop = 40, before_loads = 48, before_store = 40;
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const Problem& p = parts.problem;
    const std::int64_t elements = std::max<std::int64_t>(1, c.cta_k / lanes_of_warp);
    b.role("warps", c.warps);
    add_arithmetic(parts, before_loop, before_loop);
    b.loop(parts.trips);
    add_arithmetic(parts, before_loads + 2 * elements, before_loads);
    const mk::Id place = b.last_op();
    const mk::Id rows = add_loads(parts, Matrix::a, elements, place);
    const mk::Id columns = add_loads(parts, Matrix::b, elements, place);
    mk::Op& multiply = b.op(InstructionClass::fma_f32);
    multiply.count = elements * (hw::bytes_of(p.b) < 4 ? 3 : 1);
    multiply.chain = elements;
    multiply.dep_count = 2;
    multiply.deps[0] = {rows, 0};
    multiply.deps[1] = {columns, 0};
    b.end();
    add_sum_of_lanes(b, c);
    add_arithmetic(parts, before_store, before_store);
    add_epilogue(parts, c.warps, false);
    b.finish();
}

}  // namespace warptime::workloads::gemm
