// The main loop of CUTLASS 2's multistage kernels: lanes copy stages ahead, and warps multiply by mma.sync.
// The copies of a trip stand before the wait for copies of an earlier trip. A stage therefore has one trip
// less to arrive than there are stages to spare.
// Ignores: where exactly the compiler puts each copy.
// Source: SASS of 38 such kernels of cuBLASLt 13.1 for int8, tf32, bf16 and fp16, which fit and development
// rows name. A trip has one barrier, right after the wait for all but stages - 2 groups. Of 64 or more
// products half stand before the barrier, of fewer products nearly all. The copies begin after the first
// products.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/stage_copies.hpp"
#include "workloads/gemm/triton_instructions.hpp"
#include "workloads/gemm/warp_products.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// Instructions of a trip for addresses, masks and the ring of stages, whose position moves once. Copies,
/// products, reads of operands and conversions are not counted. The kernels above have 44 to 158 such
/// instructions; the formula is 12 % off in the mean.
std::int64_t instructions_aside(std::int64_t steps, std::int64_t copies) {
    return 20 + 10 * steps + copies * 9 / 10;
}

mk::Id add_products(Parts& parts, std::int64_t count, mk::Id operands) {
    mk::Op& mma = parts.builder.op(InstructionClass::mma_sync);
    mma.dtype = parts.problem.multiplied();
    mma.shape = {16, 8, mma_sync_k(parts.problem, parts.config)};
    mma.count = std::max<std::int64_t>(1, count);
    mma.dep_count = 1;
    mma.deps[0] = {operands, 1};  // reads the next step's operands while this step is multiplied
    return parts.builder.last_op();
}

}  // namespace

void add_multistage_role(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const int ahead = std::max(1, c.stages - 1);
    const StageTokens tokens = add_stage_tokens(parts);
    const WarpCounts counts = mma_sync_counts(parts.problem, c);
    constexpr int bytes_of_step = 32;
    const std::int64_t steps =
        std::max<std::int64_t>(1, c.cta_k * hw::bytes_of(parts.problem.a) / bytes_of_step);

    b.role("warps", c.warps);
    add_iterators(parts);
    copy_stages_ahead(parts, tokens, ahead);
    b.loop(parts.trips);
    b.op(InstructionClass::ldmatrix).count = counts.loads;
    mk::Id operands = b.last_op();
    if (parts.problem.multiplied() == Dtype::tf32) {
        // Each register of operands is rounded after its read. In a trip's first step both stand right after
        // the barrier (F2FP in the SASS of 15 kernels for tf32).
        mk::Op& round = b.op(InstructionClass::convert_pack);
        round.count = 4 * counts.loads;
        round.dep_count = 1;
        round.deps[0] = {operands, 0};
        operands = b.last_op();
    }
    const std::int64_t first = counts.products / 4;
    const std::int64_t behind = counts.products >= 64 ? counts.products / 2 : counts.products / 8;
    add_products(parts, first, operands);
    b.op(InstructionClass::add_s32).count =
        instructions_aside(steps, copies_per_warp(stage_bytes(parts.problem, c), c));
    add_copies(parts, tokens.group, ahead, true);
    add_products(parts, counts.products - first - behind, operands);
    wait_for_stage(parts, tokens, ahead);
    if (behind > 0) add_products(parts, behind, operands);
    b.end();
    add_epilogue(parts, c.warps, false);
    b.finish();
}

}  // namespace warptime::workloads::gemm
