// Distinct matrix products and tilings, the work of benchmarks and of the allocation test.
// Ignores: how often each occurs in practice; every shape comes with every tiling that can run.
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

/// Some thousands of cases, no two equal, neighbours in the list differing in shape and in tiling: plain
/// cp.async pipelines as Triton generates them, specialised bulk-copy ones as CUTLASS does (where the GPU has
/// them), split-K now and then. Tilings that the GPU cannot run are left out.
[[nodiscard]] std::vector<GemmCase> gemm_cases(const hw::Gpu<double>& gpu);

}  // namespace warptime::bench
