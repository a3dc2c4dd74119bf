// The end of a tile: accumulators to the output type, through shared memory, to global memory in wide stores.
// What is fused with it: fused.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/fused.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/reduction.hpp"
#include "workloads/gemm/stream_k.hpp"
#include "workloads/gemm/weights.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// The sums of all slices pass through shared memory, where each lane adds up those of its place
/// (kPartitionsK of CUTLASS's EpilogueBase).
mk::Id add_sum_of_slices(Parts& parts, std::int64_t of_lane) {
    mk::Builder& b = parts.builder;
    const int slices = parts.config.slice_k;
    const std::int64_t words = std::max<std::int64_t>(1, of_lane * slices / 4);
    const auto op_after = [&](InstructionClass cls, std::int64_t count, mk::Id before) {
        mk::Op op;
        op.cls = cls;
        op.count = count;
        op.dep_count = before == mk::no_id ? 0 : 1;
        op.deps[0] = {before, 0};
        return b.op(op);
    };
    const mk::Id stored = op_after(InstructionClass::st_shared, words, mk::no_id);
    const mk::Id met = op_after(InstructionClass::bar_sync, 1, stored);
    const mk::Id read = op_after(InstructionClass::ld_shared, words, met);
    return op_after(InstructionClass::add_f32, of_lane * (slices - 1), read);
}

}  // namespace

void add_epilogue(Parts& parts, int warps, bool bulk_store) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const std::int64_t elements = std::int64_t{c.cta_m} * c.cta_n;
    const std::int64_t per_warp_lanes = std::max<std::int64_t>(1, elements / (std::int64_t{warps} * 32));
    const bool to_workspace = parts.workspace != mk::no_id;
    const Dtype stored = to_workspace ? type_of_sums(parts.problem, c, c.split_k) : parts.problem.out;
    const int bytes = hw::bytes_of(stored);

    if (c.stream_k != StreamK::none) begin_owned_tile(parts, warps);
    mk::Id last = c.slice_k > 1 ? add_sum_of_slices(parts, per_warp_lanes) : mk::no_id;
    if (c.mma == MatrixInstruction::tcgen05) {
        // The sums lie in tensor memory.
        constexpr std::int64_t words = 32;  // that one instruction brings a lane
        b.op(InstructionClass::tcgen05_ld).count = std::max<std::int64_t>(1, per_warp_lanes / words);
        last = b.last_op();
    }
    if (!to_workspace) {
        const FusedTile tile{parts.tile_m, parts.tile_n, parts.batch, c.cta_n, c.cta_m};
        if (converts_weights(parts.problem, c)) {
            // The scale of each column.
            b.op(InstructionClass::mul_f32).count = per_warp_lanes;
            last = b.last_op();
        }
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
    const bool atomic = adds_atomically(c);
    const bool bulk = bulk_store && !atomic;
    // One store of a lane takes as many elements as the rows' alignment allows.
    const int elements_at_once = std::max(1, c.store_bytes / hw::bytes_of(parts.problem.out));
    const std::int64_t stores = std::max(staged, per_warp_lanes / elements_at_once);
    // Sums of slices have passed through shared memory already.
    const auto after_last = [&](InstructionClass cls, std::int64_t count) {
        mk::Op& op = b.op(cls);
        op.count = count;
        if (last != mk::no_id) {
            op.dep_count = 1;
            op.deps[0] = {last, 0};
        }
        last = b.last_op();
    };
    if (c.slice_k == 1) {
        after_last(bulk_store && bytes == 2 ? InstructionClass::stmatrix : InstructionClass::st_shared,
                   staged);
        after_last(InstructionClass::bar_sync, 1);
        if (!bulk) after_last(InstructionClass::ld_shared, stores);
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
    if (c.stream_k != StreamK::none) b.end();
}

}  // namespace warptime::workloads::gemm
