// The sum of split keys as cuDNN adds it up behind its kernels for one query (lean_reduction_kernel).
// Source: launches of recorded rows (torch_attention, fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/attention/problem.hpp"

namespace warptime::workloads::attention {

/// A CTA for each query: its parts come to shared memory at once, and each thread adds up one number of them.
void lower_lean_reduction(const Problem& problem, int splits, model::kernel::Kernel& kernel);

}  // namespace warptime::workloads::attention
