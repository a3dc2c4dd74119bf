// From a matrix product and a tiling to the kernels that run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Bytes that a memory set clears where a counter hands out tiles.
inline constexpr std::int64_t bytes_of_tile_counter = 4;

/// Adds to `program` the kernel of this tiling, memory sets before it, and the reduction of splits after it.
/// Throws Error for a tiling that cannot run; the error names resource, need and limit.
void lower(const Problem& problem, const Config& config, const hw::Gpu& gpu, model::kernel::Program& program);

}  // namespace warptime::workloads::gemm
