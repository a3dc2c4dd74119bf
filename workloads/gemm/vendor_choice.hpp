// Imitates a vendor library's choice of kernel: of those that it was seen to launch for products like one
// (library_picks.hpp), and where nothing was seen of all tiles that it ships, the one with the shortest
// predicted time. Ignores: the vendor's own heuristic, which is not public. Source: names, grids, split-K and
// memset rules decoded from recorded kernel names (cuBLAS 13.1 on H200). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <functional>

namespace warptime::workloads::gemm {

/// As workloads::Score.
using Score = std::function<double(const model::kernel::Program&, double limit)>;

/// The kernel of a family for one tile and cluster, with stages, grid limit, split and schedule by its rules.
[[nodiscard]] Config vendor_config(const Problem& problem, const libraries::GemmFamily& family,
                                   const libraries::Tile& tile, const libraries::ClusterShape& cluster,
                                   const hw::Gpu<double>& gpu);

/// The split to try after `split` where a family's splits are searched, up to its most; 0: no more.
[[nodiscard]] int next_split(const libraries::GemmFamily& family, const Config& config,
                             std::int64_t k_iterations, int split);

/// How the family adds up the splits that `config` has.
[[nodiscard]] Reduction vendor_reduction(const Problem& problem, const libraries::GemmFamily& family,
                                         const Config& config);

/// Lowers a vendor configuration: the tile counter's memset where the schedule is dynamic, kernel, reduction.
void lower_vendor(const Problem& problem, const Config& config, const hw::Gpu<double>& gpu,
                  model::kernel::Program& program);

/// Refills `program` with the best-scoring candidate and returns its configuration. Throws Error when no
/// family of the library serves this GPU and dtype.
Config choose_vendor_kernel(const Problem& problem, const std::vector<libraries::GemmFamily>& families,
                            const hw::Gpu<double>& gpu, const Score& score, model::kernel::Program& program);

/// The same, of the kernels that the library was seen to launch for such products where that is recorded.
Config choose_vendor_kernel(const Problem& problem, const libraries::Libraries& libraries,
                            const hw::Gpu<double>& gpu, const Score& score, model::kernel::Program& program);

}  // namespace warptime::workloads::gemm
