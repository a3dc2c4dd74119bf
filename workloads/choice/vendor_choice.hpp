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

namespace warptime::workloads::choice {

/// Predicted seconds of a candidate program. Infinite, if the scorer likes, for one that takes no less than
/// `limit`.
using Score = std::function<double(const model::kernel::Program&, double limit)>;

/// The split to try after `split` where a family's splits are searched, up to its most; 0: no more.
[[nodiscard]] int next_split(const libraries::GemmFamily& family, const gemm::Config& config,
                             std::int64_t k_iterations, int split);

/// The configuration of the best-scoring candidate; `program` holds one candidate after another. Throws Error
/// when no family of the library serves this GPU and dtype.
gemm::Config choose_vendor_kernel(const gemm::Problem& problem,
                                  const std::vector<libraries::GemmFamily>& families, const hw::Gpu& gpu,
                                  const Score& score, model::kernel::Program& program);

/// The same, of the kernels that the library was seen to launch for such products where that is recorded.
gemm::Config choose_vendor_kernel(const gemm::Problem& problem, const libraries::Libraries& libraries,
                                  const hw::Gpu& gpu, const Score& score, model::kernel::Program& program);

}  // namespace warptime::workloads::choice
