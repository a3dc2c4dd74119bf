// From a grouped product to its kernels: one that prepares the list of problems, and one persistent product.
// Source: PyTorch 2.11, aten/src/ATen/native/cuda/GroupMM.cu: tiles, cluster and the rule between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/grouped/problem.hpp"
#include "workloads/libraries/library.hpp"

namespace warptime::workloads::grouped {

/// Throws Error where the library has no grouped kernel for the GPU.
[[nodiscard]] const libraries::GroupedRule& rule_of(const libraries::Libraries& libraries,
                                                    const Problem& problem, const hw::Gpu& gpu);

void lower(const Problem& problem, const libraries::GroupedRule& rule, const hw::Gpu& gpu,
           model::kernel::Program& program);

}  // namespace warptime::workloads::grouped
