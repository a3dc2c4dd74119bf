// The lowering of each operator, from checked text parameters; lower.cpp picks one by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/lower.hpp"

namespace warptime::workloads {

void lower_gemm_operation(const Operation& operation, const libraries::Libraries& libraries,
                          const hw::Gpu<double>& gpu, const Score& score, model::kernel::Program& program);
void lower_copy_operation(const Operation& operation, const libraries::Libraries& libraries,
                          const hw::Gpu<double>& gpu, model::kernel::Program& program);
void lower_add_operation(const Operation& operation, const libraries::Libraries& libraries,
                         const hw::Gpu<double>& gpu, model::kernel::Program& program);

/// Throws Error naming the operator's parameter when `bytes` do not fit the GPU's memory.
void require_memory(const Operation& operation, const hw::Gpu<double>& gpu, double bytes);

}  // namespace warptime::workloads
