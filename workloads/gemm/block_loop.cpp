// A library's main loop on the ordinary arithmetic pipes.
// Lanes copy stages ahead and multiply blocks of outputs in registers. Most products of a trip come first,
// then the copies, then the wait for copies of earlier trips. A stage therefore has one trip less to arrive
// than there are stages to spare.
// Ignores: where exactly the compiler puts each copy.
// Source: SASS of the xmma kernels of eight tiles in cuBLASLt 13.1. Of the multiply-adds, 72 to 90 % stand
// before the last copy and 75 to 92 % before the wait. In tiles of 32x32 these shares are 46 and 77 %. A trip
// has one barrier, and every copy is LDGSTS.LTC128B.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/lane_block.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/stage_copies.hpp"
#include "workloads/gemm/triton_instructions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// Loads of one lane's operands for a trip. The compiler places these loads one step ahead.
Fetches add_fragments(Parts& parts, const LaneBlock& block) {
    const Config& c = parts.config;
    Fetches loads{};
    for (const bool is_a : {true, false}) {
        mk::Op fragments;
        fragments.cls = InstructionClass::ld_shared;
        const std::int64_t values = is_a ? block.rows : block.columns;
        fragments.count = std::max<std::int64_t>(1, values * hw::bytes_of(parts.problem.a) * c.cta_k / 16);
        // A load of 16 bytes a lane takes four passes. Neighbouring lanes share A's values, so a load of A
        // takes two passes. Nsight Compute counts 2.65 to 3.59 wavefronts a load in ten such kernels, which
        // agrees with their blocks.
        mk::Access lanes;
        lanes.buffer = parts.stages;
        lanes.bytes = is_a ? 8 : 16;
        loads[is_a ? 0 : 1] = parts.builder.op(fragments, {lanes});
    }
    return loads;
}

/// Multiply-adds of `steps` steps along K.
mk::Id add_products(Parts& parts, const LaneBlock& block, int steps, const Fetches& operands) {
    mk::Op multiply;
    multiply.cls = parts.problem.a == Dtype::fp64 ? InstructionClass::fma_f64 : InstructionClass::fma_f32;
    multiply.dtype = parts.problem.a;
    multiply.shape = {block.rows, block.columns, 0};
    multiply.count = std::int64_t{block.rows} * block.columns * steps;
    multiply.chain = steps;
    multiply.dep_count = 2;
    multiply.deps[0] = {operands[0], 1};
    multiply.deps[1] = {operands[1], 1};
    return parts.builder.op(multiply);
}

/// Steps of a trip before its copies, between copies and wait, and after the wait.
struct Steps {
    int before = 0, between = 0, behind = 0;
};
Steps steps_of(const Config& c, const LaneBlock& block) {
    constexpr int few = 16;  // outputs of a lane
    const int behind = c.cta_k / 4;
    const int between = block.rows * block.columns <= few ? c.cta_k / 4 : 0;
    return {c.cta_k - between - behind, between, behind};
}

}  // namespace

void add_block_product_role(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const int ahead = std::max(1, c.stages - 1);
    const LaneBlock block = lane_block(c);
    const Steps steps = steps_of(c, block);
    const StageTokens tokens = add_stage_tokens(parts);

    b.role("warps", c.warps);
    add_iterators(parts);
    copy_stages_ahead(parts, tokens, ahead);
    b.loop(parts.trips);
    const Fetches operands = add_fragments(parts, block);
    add_products(parts, block, steps.before, operands);
    const std::int64_t copies = copies_per_warp(stage_bytes(parts.problem, c), c);
    b.op(InstructionClass::mad_s32).count = 33 + 3 * copies;
    if (0.0 < c.trip_places) {
        b.op(InstructionClass::add_s32).count =
            std::llround(c.trip_places + c.copy_places * static_cast<double>(copies));
    }
    add_copies(parts, tokens.group, ahead, true);
    if (steps.between > 0) add_products(parts, block, steps.between, operands);
    wait_for_stage(parts, tokens, ahead);
    if (steps.behind > 0) add_products(parts, block, steps.behind, operands);
    b.end();
    add_block_epilogue(parts);
    b.finish();
}

}  // namespace warptime::workloads::gemm
