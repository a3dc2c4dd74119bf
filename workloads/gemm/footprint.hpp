// The resources that a GEMM kernel of a given tiling takes, where its compiler's figures are not given.
// Ignores: what ptxas really allocates; a given register count or shared size always wins.
// Source: accumulators and fragments per thread by the layouts of PTX ISA 8.7, 9.7.14-9.7.15; the remaining
// registers (addresses, descriptors, loop state) are a rounded-up allowance.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Dynamic shared memory: stages, barriers, and a staged epilogue where it does not alias them.
[[nodiscard]] std::int64_t shared_bytes(const Problem& problem, const Config& config);

/// Registers per thread that the loop wants, as estimated, without a limit: above that of the GPU the
/// compiler spills. Warp-specialised kernels move registers between their roles: what a consumer thread
/// wants.
[[nodiscard]] int registers_wanted(const Problem& problem, const Config& config);

/// Registers per thread at launch, rounded to the allocation unit of 8, at most `most`, which a GPU allows.
/// `of_sm`: all that CTAs share, for compilers that make room for one more.
[[nodiscard]] int registers_per_thread(const Problem& problem, const Config& config, int most, int of_sm);

/// Whether all warps multiply and one thread of them asks the bulk engine for stages, as Triton's kernels
/// with tensor descriptors do.
[[nodiscard]] bool copies_by_descriptor(const Config& config);

/// Threads of a CTA, with the producer warpgroup where warps are specialised.
[[nodiscard]] int threads(const Config& config);

/// Throws Error naming the types that there are, where the tensor cores of `gpu` cannot multiply operand A's.
void require_tensor_dtype(const Problem& problem, const hw::Gpu& gpu);

/// Fills instruction, pipeline, stages and warps that are not given, by what the GPU offers; throws Error for
/// a combination that it lacks (wgmma on sm_80) or a tile that its instruction cannot cover.
void complete(const Problem& problem, const hw::Gpu& gpu, Config& config);

}  // namespace warptime::workloads::gemm
