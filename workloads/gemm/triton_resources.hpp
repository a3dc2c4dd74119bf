// Registers and shared memory of a Triton kernel with cp.async.
// Ignores: how ptxas treats a single loop (up to twenty registers), and spills.
// Source: buffers follow Triton's pipeliner (lib/Dialect/TritonGPU/Transforms/Pipeliner). Their number is
// that of the stages between a copy and its use. One more is added where wgmma still reads while the next
// copies are issued. Registers come from the 257 tilings of triton_bf16 and triton_bf16_second, whose
// residency is right for 9 in 10.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::gemm {

/// Whether the loop is Triton's loop whose multiplying warps copy asynchronously.
[[nodiscard]] bool copies_as_triton(const Config& config);

/// Whether Triton multiplies by tcgen05 on a GPU that has it: tiles of 64 rows and 16 columns and more, with
/// one or two warpgroups, of types that it does not refuse. Other tiles go through mma.sync.
[[nodiscard]] bool multiplies_by_tcgen05(const Problem& problem, const Config& config);

/// Number of stages in shared memory.
[[nodiscard]] int triton_buffers(const Config& config);

/// Registers of a thread: accumulators, a pointer for each copy, fragments, and the rest.
[[nodiscard]] int triton_registers(const Problem& problem, const Config& config);

}  // namespace warptime::workloads::gemm
