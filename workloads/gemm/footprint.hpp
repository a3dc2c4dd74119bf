// The resources that a GEMM kernel of a given tiling takes, where its compiler's figures are not given.
// Ignores: the real allocation by ptxas. A given register count or shared size always wins.
// Source: accumulators and fragments per thread follow the layouts of PTX ISA 8.7, 9.7.14-9.7.15. The
// remaining registers (addresses, descriptors, loop state) are a rounded-up allowance.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Bytes of dynamic shared memory that the stages of a tile and their barriers need, or its turned results.
[[nodiscard]] std::int64_t least_shared_bytes(const Problem& problem, const Config& config);

/// Bytes of dynamic shared memory of a CTA: those that the configuration gives, else the least.
[[nodiscard]] std::int64_t shared_bytes(const Problem& problem, const Config& config);

/// Throws Error if a CTA of `gpu` may not have so many `bytes`. The error names the tile, or the parameter
/// shared_bytes where it is given.
void require_shared_bytes(const Config& config, std::int64_t bytes, const hw::Gpu& gpu);

/// Estimated registers per thread that the loop wants, without a limit. The compiler spills what exceeds the
/// limit of the GPU. Warp-specialised kernels move registers between their roles; the number is then that of
/// a consumer thread.
[[nodiscard]] int registers_wanted(const Problem& problem, const Config& config);

/// Registers per thread at launch, rounded to the allocation unit of 8. `most` is the limit of the GPU.
/// `of_sm` is the number of registers that all CTAs of an SM share; some compilers save registers so that one
/// more CTA fits.
[[nodiscard]] int registers_per_thread(const Problem& problem, const Config& config, int most, int of_sm);

/// Whether all warps multiply and one thread asks the bulk engine for stages, as in Triton's kernels with
/// tensor descriptors.
[[nodiscard]] bool copies_by_descriptor(const Config& config);

/// Threads of a CTA, including the producer warpgroup where warps are specialised.
[[nodiscard]] int threads(const Config& config);

/// Throws Error where the tensor cores of `gpu` cannot multiply operand A's type. The error names the types
/// that exist.
void require_tensor_dtype(const Problem& problem, const hw::Gpu& gpu);

/// Fills in instruction, pipeline, stages and warps that are not given, according to the GPU. Throws Error
/// for a combination that the GPU lacks (wgmma on sm_80). Throws Error for a tile that its instruction cannot
/// cover.
void complete(const Problem& problem, const hw::Gpu& gpu, Config& config);

}  // namespace warptime::workloads::gemm
