// Triton's loop over a tile, as its kernels compile it. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::gemm::fixture {

/// A loop whose lanes copy `stages` stages; tiles of 64 rows or more use wgmma.
inline Config loop_of(int m, int n, int k, int stages, int warps) {
    Config config;
    config.cta_m = m;
    config.cta_n = n;
    config.cta_k = k;
    config.stages = stages;
    config.warps = warps;
    config.pipeline = Pipeline::cp_async;
    config.mma = m < 64 ? MatrixInstruction::mma_sync : MatrixInstruction::wgmma;
    config.strides_by_16 = true;
    return config;
}

}  // namespace warptime::workloads::gemm::fixture
