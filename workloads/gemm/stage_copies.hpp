// The copies of one stage by lanes, and the work of a kernel before the first copy.
// Source: SASS of library and Triton kernels, as each function says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::gemm {

/// The ops that fetched A and B.
using Fetches = std::array<model::kernel::Id, 2>;

/// Adds the copies (or loads, without cp.async) of the stage `ahead` iterations on, committed to `group`.
/// With `guarded` the copies run only if that stage exists. `behind`: the op that the copies wait for.
Fetches add_copies(Parts& parts, model::kernel::Id group, int ahead, bool guarded,
                   model::kernel::Id behind = model::kernel::no_id);

/// Adds the loads of operands that their own trip loads (triton_turning.hpp), and their stores to shared
/// memory. Adds nothing where no operand is loaded so.
void add_loads_of_trip(Parts& parts);

/// Adds the work before the loop of warps that copy for themselves and meet once a trip. The warps copy the
/// stages ahead and wait for the first stage. A split can be shorter than the pipeline, so no more stages are
/// copied than the item multiplies.
void copy_stages_ahead(Parts& parts, const StageTokens& tokens, int ahead);
/// Waits for all copies except the latest `ahead` - 1 stages, first by this warp and then by all others.
void wait_for_stage(Parts& parts, const StageTokens& tokens, int ahead);

/// Adds `count` instructions that are neither copies nor products; `chain` instructions depend on one
/// another.
void add_arithmetic(Parts& parts, std::int64_t count, std::int64_t chain);

/// Adds the arithmetic before the first copy in a library's kernel that copies by lanes. The results are the
/// tile's number, iterators over both operands and their masks for edges. The divisions depend on one
/// another. Source: kernels of fewer than 15 us of gemm_tf32, gemm_int8, gemm_fp32, gemm_bf16_third and
/// gemm_fp16_second (fit and development rows). These kernels begin 0.2 to 1.2 us later than kernels with
/// tensor maps. Their machine code was not counted.
void add_iterators(Parts& parts);

}  // namespace warptime::workloads::gemm
