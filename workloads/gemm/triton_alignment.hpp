// How Triton's compiler treats rows that it cannot know to be aligned: narrow, synchronous loads.
// Kernels with constant strides (torch.compile) know which power of two divides each row.
// Ignores: alignment hints in other sources (tl.multiple_of), and a remainder of K beside aligned rows of A.
// Source: Triton specialises integer arguments that are divisible by 16 (python/triton/runtime/jit.py).
// Nothing is known of other strides, so each element is loaded by itself. cp.async takes no fewer than 4
// bytes (PTX ISA 8.7). Compiled loops of such shapes have one stage (shared bytes in triton_bf16_second).
// Where one operand is aligned, only that operand has stages (triton_bf16_third).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::gemm {

/// Narrows `config`'s copies of an operand whose row pitch is no multiple of 16 elements, if no pipeline was
/// requested. With known strides, copies and stores move pieces of as many bytes as divide the rows. Pieces
/// of less than four bytes are loaded.
void respect_triton_alignment(const Problem& problem, Config& config);

}  // namespace warptime::workloads::gemm
