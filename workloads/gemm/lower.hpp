// From a matrix product and a tiling to the kernels that run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Refills `program` with the kernel of this tiling and, for split-K into a workspace, its reduction.
/// Throws Error for a tiling that cannot run (resource, need and limit named).
void lower(const Problem& problem, const Config& config, const hw::Gpu<double>& gpu,
           model::kernel::Program& program);

}  // namespace warptime::workloads::gemm
