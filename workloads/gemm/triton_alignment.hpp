// What Triton's compiler makes of rows that it cannot know to be aligned: narrow, synchronous loads.
// Kernels that have their strides as constants (torch.compile) know what divides each row.
// Ignores: alignment hints in other sources (tl.multiple_of), and a remainder of K beside aligned rows of A.
// Source: Triton specialises integer arguments that are divisible by 16
// (python/triton/runtime/jit.py); of other strides nothing is known, so each element is loaded by itself, and
// cp.async takes no fewer than 4 bytes (PTX ISA 8.7). Compiled loops of such shapes have one stage (shared
// bytes in triton_bf16_second), and where one operand is aligned, that one's stages alone
// (triton_bf16_third). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::gemm {

/// Narrows `config`'s copies of an operand whose row pitch is no multiple of 16 elements, where no pipeline
/// was asked for. Where the strides are known, each operand is copied, and C stored, in pieces of what
/// divides its rows; what is less than four bytes is loaded.
void respect_triton_alignment(const Problem& problem, Config& config);

}  // namespace warptime::workloads::gemm
