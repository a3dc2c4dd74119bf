// What a Triton kernel with cp.async takes of registers and shared memory.
// Ignores: what ptxas makes of one loop (up to twenty registers), and spills.
// Source: buffers by Triton's pipeliner (lib/Dialect/TritonGPU/Transforms/Pipeliner: as many as stages lie
// between a copy and its use, one more where wgmma still reads while the next copies are issued); registers
// from the 257 tilings of triton_bf16 and triton_bf16_second, whose residency follows for 9 in 10.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::gemm {

/// Whether the loop is Triton's with copies of 16 bytes by the warps that multiply.
[[nodiscard]] bool copies_as_triton(const Config& config);

/// Stages that lie in shared memory.
[[nodiscard]] int triton_buffers(const Config& config);

/// Registers of a thread: accumulators, a pointer to each of its copies, fragments, and the rest.
[[nodiscard]] int triton_registers(const Problem& problem, const Config& config);

}  // namespace warptime::workloads::gemm
