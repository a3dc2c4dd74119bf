// Distinct matrix products and tilings for benchmarks and the allocation test.
// Ignores: how often each occurs in practice. Every shape comes with every tiling that can run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"

#include <vector>

namespace warptime::bench {

struct GemmCase {
    workloads::gemm::Problem problem;
    workloads::gemm::Config config;
};

/// Some thousands of distinct cases; neighbours in the list differ in shape and in tiling. The tilings are
/// plain cp.async pipelines as in Triton. Where the GPU has bulk copies, there are also specialised bulk-copy
/// pipelines as in CUTLASS. Some cases split K. Tilings that the GPU cannot run are left out.
[[nodiscard]] std::vector<GemmCase> gemm_cases(const hw::Gpu& gpu);

}  // namespace warptime::bench
