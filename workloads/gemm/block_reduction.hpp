// The kernel that adds up splits of K block by block, as a library's fp32 kernels keep the blocks.
// Ignores: the cost of a second operand (beta).
// Source: grids, registers and shared bytes of 110 execute_split_k_kernel, and their SASS in cuBLASLt 13.1.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::gemm {

/// Writes the kernel, with one CTA for every pass of a tile of `config`.
void lower_block_reduction(const Problem& problem, const Config& config, model::kernel::Kernel& kernel);

}  // namespace warptime::workloads::gemm
