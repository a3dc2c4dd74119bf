// Imitates a vendor library's choice of kernel: the candidate with the shortest predicted time.
// Candidates are the kernels that the library was seen to launch for similar products (library_picks.hpp).
// Where nothing was seen, all tiles that the library ships are candidates.
// Ignores: the vendor's own heuristic, which is not public.
// Source: names, grids, split-K and memset rules, decoded from recorded kernel names (cuBLAS 13.1 on H200).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <functional>

namespace warptime::workloads::choice {

/// Predicted seconds of a candidate program. For a program that takes at least `limit`, the scorer may return
/// infinity.
using Score = std::function<double(const model::kernel::Program&, double limit)>;

/// The number of splits to try after `split` in families whose splits are searched; 0: the search ends.
[[nodiscard]] int next_split(const libraries::GemmFamily& family, const gemm::Config& config,
                             std::int64_t k_iterations, int split);

/// The configuration with the best score; `program` holds one candidate after another. Throws Error when no
/// family of the library serves this GPU and dtype.
gemm::Config choose_vendor_kernel(const gemm::Problem& problem,
                                  const std::vector<libraries::GemmFamily>& families, const hw::Gpu& gpu,
                                  const Score& score, model::kernel::Program& program);

/// Does the same among the kernels that the library was seen to launch for such products, where launches are
/// recorded.
gemm::Config choose_vendor_kernel(const gemm::Problem& problem, const libraries::Libraries& libraries,
                                  const hw::Gpu& gpu, const Score& score, model::kernel::Program& program);

}  // namespace warptime::workloads::choice
