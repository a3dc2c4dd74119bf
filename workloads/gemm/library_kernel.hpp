// The configuration of a library's kernel, from its known family, tile and cluster.
// The family's rules give stages, grid limit, split, schedule and order of tiles.
// Ignores: which kernel the library takes (workloads/choice).
// Source: names, grids, split-K and memset rules, decoded from recorded kernel names (cuBLAS 13.1 on H200).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// CTAs in clusters of `cluster_size` that the GPU holds at once.
[[nodiscard]] std::int64_t largest_grid(const hw::Gpu& gpu, int cluster_size);

/// Whether each warp or half warp of the family's kernels takes whole columns of C.
[[nodiscard]] bool takes_columns(const libraries::GemmFamily& family);

/// The kernel of a family for one tile and cluster. Stages, grid limit, split and schedule follow the
/// family's rules.
[[nodiscard]] Config vendor_config(const Problem& problem, const libraries::GemmFamily& family,
                                   const libraries::Tile& tile, const libraries::ClusterShape& cluster,
                                   const hw::Gpu& gpu);

/// How the family adds up the splits of `config`.
[[nodiscard]] Reduction vendor_reduction(const Problem& problem, const libraries::GemmFamily& family,
                                         const Config& config);

}  // namespace warptime::workloads::gemm
