// A main loop in which all warps copy ahead (cp.async or TMA) and multiply: Triton, or CUTLASS multistage.
// Ignores: how the compiler orders address arithmetic; its count per iteration is an allowance.
// Source of the counts: triton_instructions.hpp. An iteration has two barriers, and copies start after the
// second. With wgmma the second barrier stands after the products' issue. With mma.sync it stands after the
// last ldmatrix (SASS of 150 Triton kernels).
// SPDX-License-Identifier: Apache-2.0
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/stage_copies.hpp"
#include "workloads/gemm/triton_gathers.hpp"
#include "workloads/gemm/triton_instructions.hpp"
#include "workloads/gemm/triton_multiply_adds.hpp"
#include "workloads/gemm/triton_resources.hpp"
#include "workloads/gemm/triton_single_stage.hpp"
#include "workloads/gemm/triton_turning.hpp"
#include "workloads/gemm/warp_products.hpp"
#include "workloads/gemm/weights.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// Stores a stage from registers, where plain loads have put it, to shared memory.
void add_stores_of_stage(Parts& parts, const Fetches& fetches) {
    const Config& c = parts.config;
    mk::Op& store = parts.builder.op(InstructionClass::st_shared);
    // One store of a lane takes all neighbours that the lane has fetched.
    const int width = std::max(c.copy_bytes, std::min(16, c.lane_bytes_a));
    store.count =
        std::max<std::int64_t>(1, stage_bytes(parts.problem, c) / (std::int64_t{32} * width * c.warps));
    store.dep_count = 2;
    store.deps[0] = {fetches[0], 0};
    store.deps[1] = {fetches[1], 0};
    mk::Access& access = parts.builder.access();
    access.buffer = parts.stages;
    access.direction = mk::Direction::write;
    access.bytes = width;
}

/// Whether the compiler waits for each product before the next one, and copies after all products. Two kinds
/// of tiles with two warpgroups behave so. The first has 256 columns of 8-bit types (SASS of the 60 kernels
/// of triton_fp8: all six such tiles, no other). The second has 128 columns, with K split and added up
/// atomically (SASS of 32 such kernels: all six such tiles, no other). No bf16 kernel with one tile a program
/// does so, and none of 38 persistent ones.
bool products_in_series(const Problem& problem, const Config& c) {
    const compilers::Triton::Series& law = compilers::triton().series;
    if (!copies_as_triton(c) || c.mma != MatrixInstruction::wgmma || c.warps != law.warps ||
        c.schedule != mk::ScheduleKind::one_per_cta) {
        return false;
    }
    if (c.split_k > 1) {
        return adds_atomically(c) && c.cta_n == law.columns_of_split &&
               hw::bytes_of(problem.a) == law.bytes_of_split;
    }
    return c.cta_n == law.columns && hw::bytes_of(problem.a) == law.bytes;
}

/// One thread issues the products of a stage. All warps then look at the barrier of the products before,
/// whose stage the next copies fill. (PTX of Triton 3.6 for sm_100; the warpgroups share what that thread
/// issues.)
mk::Id add_products_of_tcgen05(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    constexpr int rows = 128;  // of an instruction, where the tile has them
    constexpr int bytes_of_step = 32;
    const int steps = std::max(1, c.cta_k * hw::bytes_of(parts.problem.multiplied()) / bytes_of_step);
    const int tall = c.cta_m % rows == 0 ? rows : rows / 2;
    const int warpgroups = c.warps / 4;
    mk::Op multiply;
    multiply.cls = InstructionClass::tcgen05_mma;
    multiply.dtype = parts.problem.multiplied();
    multiply.shape = {tall, c.cta_n, bytes_of_step / hw::bytes_of(parts.problem.multiplied())};
    multiply.count = (std::int64_t{c.cta_m / tall} * steps + warpgroups - 1) / warpgroups;
    multiply.shared_operand = true;
    const mk::Id products = b.op(multiply);
    mk::Op look;
    look.cls = InstructionClass::mbarrier_try_wait;
    look.dep_count = 1;
    look.deps[0] = {products, 1};
    return b.op(look);
}

}  // namespace

void add_pipelined_role(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const int ahead = c.stages - 1;
    const bool synchronous = c.pipeline == Pipeline::sync;
    const auto [group_id, barrier_id] = add_stage_tokens(parts);

    const bool gathers = gathers_as_triton(c);
    const bool beside_copies = gathers_beside_copies(c) || turned_in_its_trip(c);
    const bool as_triton = copies_as_triton(c) || gathers || loads_stage_in_turns(c);
    const TritonInstructions aside = gathers     ? gather_instructions(c)
                                     : as_triton ? triton_instructions(parts.problem, c)
                                                 : TritonInstructions{};
    add_spill_buffer(parts);

    b.role("warps", c.warps);
    if (as_triton) {
        // The divisions depend on one another, hence the chain.
        add_arithmetic(parts, aside.before, compilers::triton().instructions.chain_before);
    } else {
        add_iterators(parts);
    }
    if (ahead > 0) {
        // A split can be shorter than the pipeline, so no more stages are copied than the item multiplies.
        b.loop(b.clamp(parts.trips, 0, ahead));
        const Fetches first = add_copies(parts, group_id, 0, false);
        if (synchronous) {
            add_stores_of_stage(parts, first);
        }
        if (as_triton && ahead > 1) {
            add_arithmetic(parts, std::max<std::int64_t>(1, aside.of_stage * (ahead - 1) / ahead), 1);
        }
        b.end();
    }
    b.loop(parts.trips);
    add_spill_loads(parts);
    // The order is that of the source: loads of A stand before the wait for B's copies, loads of B after the
    // wait for A's.
    const bool behind_wait = beside_copies && !loaded_in_its_trip(c, true);
    if (!behind_wait) add_loads_of_trip(parts);
    Fetches fetches{};
    if (ahead == 0) {
        // A single stage is fetched, waited for and multiplied in turn.
        fetches = add_copies(parts, group_id, 0, false);
        if (synchronous) {
            add_stores_of_stage(parts, fetches);
        }
    }
    b.wait(group_id, std::max(0, ahead - 1));
    if (behind_wait) add_loads_of_trip(parts);
    b.signal(barrier_id, mk::SignalOn::issue);
    b.wait(barrier_id);
    const bool in_series = products_in_series(parts.problem, c);
    // Triton's loops of mma.sync copy after all warps have read their operands into registers.
    const bool reads_first = as_triton && c.mma == MatrixInstruction::mma_sync;
    const bool converts = converts_weights(parts.problem, c);
    const bool by_tcgen05 = c.mma == MatrixInstruction::tcgen05;
    const bool by_multiply_adds = multiplies_as_triton(c);
    if (ahead > 0 && !in_series && !reads_first && !beside_copies && !converts && !by_tcgen05 &&
        !by_multiply_adds) {
        // After the barrier all warps have read the oldest stage. Copies refill its place before the
        // arithmetic.
        fetches = add_copies(parts, group_id, ahead, true);
    }
    const auto address = as_triton ? InstructionClass::add_s32 : InstructionClass::mad_s32;
    mk::Id last = mk::no_id;
    if (converts) {
        last = add_converted_products(parts);
        if (ahead > 0) fetches = add_copies(parts, group_id, ahead, true, last);
        b.op(address).count = aside.of_trip;
    } else if (c.mma == MatrixInstruction::wgmma) {
        mk::Op& mma = add_wgmma_of_stage(parts, c.warps / 4);
        if (in_series) mma.chain = mma.count;
        last = b.last_op();
        if ((in_series || beside_copies) && ahead > 0)
            fetches = add_copies(parts, group_id, ahead, true, last);
        // Addresses are computed while the tensor cores multiply.
        b.op(address).count =
            as_triton ? aside.of_trip : 40 + 4 * copies_per_warp(stage_bytes(parts.problem, c), c);
    } else if (by_multiply_adds) {
        last = add_multiply_adds(parts);
        if (ahead > 0) fetches = add_copies(parts, group_id, ahead, true);
        b.op(address).count = aside.of_trip;
    } else if (c.mma == MatrixInstruction::tcgen05) {
        last = add_products_of_tcgen05(parts);
        fetches = add_copies(parts, group_id, ahead, true, last);
        b.op(address).count = aside.of_trip;
    } else {
        const WarpCounts counts = mma_sync_counts(parts.problem, c);
        const std::int64_t addresses =
            as_triton ? aside.of_trip
                      : 33 + 3 * copies_per_warp(std::int64_t{c.cta_m + c.cta_n} * c.cta_k * 2, c);
        if (!reads_first) b.op(address).count = addresses;
        // Before sm_75 there is no ldmatrix. A plain 16-byte load then brings a warp the same 512 bytes.
        b.op(parts.ldmatrix ? InstructionClass::ldmatrix : InstructionClass::ld_shared).count = counts.loads;
        if (counts.single_bytes > 0) {
            // Further instructions put single bytes together into words.
            b.op(InstructionClass::add_s32).count = 3 * counts.single_bytes / 4;
            b.op(InstructionClass::ld_shared).count = counts.single_bytes;
            mk::Access& lanes = b.access();
            lanes.buffer = parts.stages;
            lanes.bytes = 1;
        }
        const mk::Id loaded = b.last_op();
        if (reads_first && ahead > 0 && !beside_copies)
            fetches = add_copies(parts, group_id, ahead, true, loaded);
        mk::Op& mma = b.op(InstructionClass::mma_sync);
        mma.dtype = parts.problem.multiplied();
        mma.shape = {16, 8, mma_sync_k(parts.problem, c)};
        mma.count = counts.products;
        mma.dep_count = 1;
        mma.deps[0] = {loaded, static_cast<std::int16_t>(c.fragments_ahead ? 1 : 0)};
        last = b.last_op();
        if (beside_copies && ahead > 0) fetches = add_copies(parts, group_id, ahead, true);
        if (reads_first) b.op(address).count = addresses;
    }
    if (synchronous && ahead > 0) {
        // The loads were in flight during the arithmetic.
        add_stores_of_stage(parts, fetches);
    }
    add_spill_stores(parts);
    mk::Op& barrier_op = b.op(InstructionClass::bar_sync);
    barrier_op.count = 2;
    barrier_op.dep_count = 1;
    barrier_op.deps[0] = {last, 0};
    b.end();
    if (as_triton) add_arithmetic(parts, aside.after, compilers::triton().instructions.chain_after);
    add_epilogue(parts, c.warps, false);
    b.finish();
}

}  // namespace warptime::workloads::gemm
