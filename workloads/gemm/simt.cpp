// A main loop on the ordinary arithmetic pipes.
// Registers stage global loads into shared memory, and threads hold 8x8 outputs.
// Source: the classical register-blocked SGEMM (Volkov and Demmel, SC'08, doi.org/10.1109/SC.2008.5214359).
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/parts.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

void add_simt_role(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const Dtype multiplied = parts.problem.multiplied();
    const bool fp64 = multiplied == Dtype::fp64;
    const int bytes = hw::bytes_of(multiplied);  // in shared memory, where elements arrive converted
    const std::int64_t lanes = std::int64_t{c.warps} * 32;
    const std::int64_t products =
        std::max<std::int64_t>(1, std::int64_t{c.cta_m} * c.cta_n * c.cta_k / lanes);
    mk::Token barrier;
    barrier.name = "cta_barrier";
    barrier.kind = mk::TokenKind::named_barrier;
    barrier.arrivals = c.warps;
    const mk::Id barrier_id = b.token(barrier);

    b.role("warps", c.warps);
    b.loop(parts.trips);
    mk::Id loaded[2] = {mk::no_id, mk::no_id};
    int side = 0;
    for (const bool is_a : {true, false}) {
        const Dtype dtype = is_a ? parts.problem.a : parts.problem.b;
        const std::int64_t tile_bytes =
            std::int64_t{is_a ? c.cta_m : c.cta_n} * c.cta_k * hw::bytes_of(dtype);
        mk::Op load;
        load.cls = InstructionClass::ld_global;
        load.dtype = dtype;
        load.count = std::max<std::int64_t>(1, tile_bytes / (lanes * 16));
        loaded[side++] = b.op(load);
        add_stage_access(parts, is_a ? Matrix::a : Matrix::b, 0);
    }
    mk::Op put;
    put.cls = InstructionClass::st_shared;
    put.count = std::max<std::int64_t>(1, std::int64_t{c.cta_m + c.cta_n} * c.cta_k * bytes / (lanes * 16));
    put.dep_count = 2;
    put.deps[0] = {loaded[0], 0};
    put.deps[1] = {loaded[1], 0};
    const mk::Id stored = b.op(put);
    mk::Op sync;
    sync.cls = InstructionClass::bar_sync;
    sync.dep_count = 1;
    sync.deps[0] = {stored, 0};
    b.op(sync);
    b.signal(barrier_id, mk::SignalOn::issue);
    b.wait(barrier_id);
    mk::Op get;
    get.cls = InstructionClass::ld_shared;
    // An 8x8 block of outputs needs 16 values per k, in 16-byte loads.
    get.count = std::max<std::int64_t>(1, std::int64_t{c.cta_k} * 16 * bytes / 16);
    const mk::Id fetched = b.op(get);
    mk::Op multiply;
    multiply.cls = fp64 ? InstructionClass::fma_f64 : InstructionClass::fma_f32;
    multiply.dtype = multiplied;
    multiply.count = products;
    multiply.chain = std::min<std::int64_t>(products, c.cta_k);
    multiply.dep_count = 1;
    multiply.deps[0] = {fetched, 0};
    b.op(multiply);
    b.end();
    add_epilogue(parts, c.warps, false);
    b.finish();
}

}  // namespace warptime::workloads::gemm
