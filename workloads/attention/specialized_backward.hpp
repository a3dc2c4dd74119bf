// Backward of attention as cuDNN runs it: products of dO and O by row, which clear the sums of dQ; persistent
// CTAs whose two warpgroups hold blocks of 64 keys and go round the queries with wgmma; dQ to 16 bits; sums
// over the heads that share keys.
// Ignores: which warpgroup multiplies which half of dQ.
// Source: kernel names, grids, registers and shared memory of recorded rows (torch_attention_backward, fit
// and development rows); the order of products in Shah et al. 2024, arXiv:2407.08608, appendix B.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/attention/problem.hpp"
#include "workloads/libraries/attention_family.hpp"

namespace warptime::workloads::attention {

void lower_specialized_backward(const Problem& problem, const libraries::AttentionTile& tile,
                                const hw::Gpu& gpu, model::kernel::Program& program);

}  // namespace warptime::workloads::attention
