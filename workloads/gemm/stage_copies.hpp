// The copies of one stage by lanes, and what a kernel computes before the first of them.
// Source: SASS of library and Triton kernels, as each function says. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::gemm {

/// The op that fetched A and the one that fetched B.
using Fetches = std::array<model::kernel::Id, 2>;

/// Copies (or loads, without cp.async) of the stage `ahead` iterations on, only where that exists if
/// `guarded`; committed to `group`. `behind`: the op that they wait for.
Fetches add_copies(Parts& parts, model::kernel::Id group, int ahead, bool guarded,
                   model::kernel::Id behind = model::kernel::no_id);

/// The loads of operands that their trip loads (triton_turning.hpp) and their stores to shared memory;
/// nothing where there are none.
void add_loads_of_trip(Parts& parts);

/// What warps that copy for themselves and meet once a trip do before their loop: they copy the stages ahead
/// and wait for the first of them. No more than the item has to multiply: a split can be shorter than the
/// pipeline.
void copy_stages_ahead(Parts& parts, const StageTokens& tokens, int ahead);
/// Waits for all copies but those of the `ahead` - 1 latest stages, by this warp and then by all others.
void wait_for_stage(Parts& parts, const StageTokens& tokens, int ahead);

/// Adds `count` instructions, `chain` of which depend on one another, that are neither copies nor products.
void add_arithmetic(Parts& parts, std::int64_t count, std::int64_t chain);

/// What a library's kernel that copies by lanes computes before its first copy: the tile's number, iterators
/// over both operands and their masks for edges, by divisions that depend on one another. Source: kernels of
/// fewer than 15 us of gemm_tf32, gemm_int8, gemm_fp32, gemm_bf16_third and gemm_fp16_second (fit and
/// development rows) begin 0.2 to 1.2 us later than those with tensor maps; their machine code was not
/// counted.
void add_iterators(Parts& parts);

}  // namespace warptime::workloads::gemm
