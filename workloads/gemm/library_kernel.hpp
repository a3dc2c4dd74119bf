// The kernel that a library has for a product, once its family, tile and cluster are known: stages, grid
// limit, split, schedule and order of tiles by that family's rules. Ignores: which kernel the library takes
// (workloads/choice). Source: names, grids, split-K and memset rules decoded from recorded kernel names
// (cuBLAS 13.1 on H200). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// CTAs of such clusters that the GPU takes at once.
[[nodiscard]] std::int64_t largest_grid(const hw::Gpu& gpu, int cluster_size);

/// Whether the family's kernels take columns of C whole.
[[nodiscard]] bool takes_columns(const libraries::GemmFamily& family);

/// The kernel of a family for one tile and cluster, with stages, grid limit, split and schedule by its rules.
[[nodiscard]] Config vendor_config(const Problem& problem, const libraries::GemmFamily& family,
                                   const libraries::Tile& tile, const libraries::ClusterShape& cluster,
                                   const hw::Gpu& gpu);

/// How the family adds up the splits that `config` has.
[[nodiscard]] Reduction vendor_reduction(const Problem& problem, const libraries::GemmFamily& family,
                                         const Config& config);

}  // namespace warptime::workloads::gemm
