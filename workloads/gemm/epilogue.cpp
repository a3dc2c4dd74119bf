// The end of a tile: accumulators to the output type, through shared memory, to global memory in wide stores.
// What is fused with it: fused.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/fused.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/reduction.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

void add_epilogue(Parts& parts, int warps, bool bulk_store) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const std::int64_t elements = std::int64_t{c.cta_m} * c.cta_n;
    const std::int64_t per_warp_lanes = std::max<std::int64_t>(1, elements / (std::int64_t{warps} * 32));
    const bool to_workspace = parts.workspace != mk::no_id;
    const Dtype stored = to_workspace ? type_of_sums(parts.problem, c, c.split_k) : parts.problem.out;
    const int bytes = hw::bytes_of(stored);

    mk::Id last = mk::no_id;
    if (c.mma == MatrixInstruction::tcgen05) {
        // The sums lie in tensor memory.
        constexpr std::int64_t words = 32;  // that one instruction brings a lane
        b.op(InstructionClass::tcgen05_ld).count = std::max<std::int64_t>(1, per_warp_lanes / words);
        last = b.last_op();
    }
    if (!to_workspace) {
        const FusedTile tile{parts.tile_m, parts.tile_n, parts.batch, c.cta_n, c.cta_m};
        last = add_fused(b, parts.problem, tile, per_warp_lanes, warps, last);
    }
    if (bytes < 4) {
        mk::Op& pack = b.op(InstructionClass::convert_pack);
        pack.count = std::max<std::int64_t>(1, per_warp_lanes / 2);
        if (last != mk::no_id) {
            pack.dep_count = 1;
            pack.deps[0] = {last, 0};
        }
        last = b.last_op();
    }
    const std::int64_t staged = std::max<std::int64_t>(1, per_warp_lanes * bytes / 16);
    mk::Op& stage = b.op(bulk_store && bytes == 2 ? InstructionClass::stmatrix : InstructionClass::st_shared);
    stage.count = staged;
    if (last != mk::no_id) {
        stage.dep_count = 1;
        stage.deps[0] = {last, 0};
    }
    last = b.last_op();
    mk::Op& barrier = b.op(InstructionClass::bar_sync);
    barrier.dep_count = 1;
    barrier.deps[0] = {last, 0};
    last = b.last_op();
    const bool atomic = adds_atomically(c);
    const bool bulk = bulk_store && !atomic;
    // One store of a lane takes as many elements as the rows' alignment allows.
    const int elements_at_once = std::max(1, c.store_bytes / hw::bytes_of(parts.problem.out));
    const std::int64_t stores = std::max(staged, per_warp_lanes / elements_at_once);
    if (!bulk) {
        mk::Op& reload = b.op(InstructionClass::ld_shared);
        reload.count = stores;
        reload.dep_count = 1;
        reload.deps[0] = {last, 0};
        last = b.last_op();
    }
    mk::Op& store = b.op(bulk     ? InstructionClass::cp_async_bulk_store
                         : atomic ? InstructionClass::red_global
                                  : InstructionClass::st_global);
    store.dtype = stored;
    store.dep_count = 1;
    store.deps[0] = {last, 0};
    if (!bulk) {
        store.count = atomic ? per_warp_lanes : stores;
        store.returns = false;
    }
    add_store_access(parts);
}

}  // namespace warptime::workloads::gemm
