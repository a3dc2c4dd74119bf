// What a warp loads and multiplies of a stage by mma.sync, as its kernel shares the tile out among warps.
// Ignores: fragments that the compiler loads twice. Source: see the functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// K of one mma.sync.
[[nodiscard]] int mma_sync_k(const Problem& problem, const Config& c);

/// ldmatrix.x4 (16 rows of 32 bytes) and mma per warp and iteration.
struct WarpCounts {
    std::int64_t products = 0;
    std::int64_t loads = 0;
    std::int64_t single_bytes = 0;  ///< of a lane, that ldmatrix cannot turn
};
[[nodiscard]] WarpCounts mma_sync_counts(const Problem& problem, const Config& c);

}  // namespace warptime::workloads::gemm
