// The loads and products of a warp for one stage with mma.sync, as the warps share the tile.
// Ignores: fragments that the compiler loads twice.
// Source: see the functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// K of one mma.sync.
[[nodiscard]] int mma_sync_k(const Problem& problem, const Config& c);

/// ldmatrix.x4 (16 rows of 32 bytes) and mma instructions of a warp in an iteration.
struct WarpCounts {
    std::int64_t products = 0;
    std::int64_t loads = 0;
    std::int64_t single_bytes = 0;  ///< of a lane, which ldmatrix cannot transpose
};
[[nodiscard]] WarpCounts mma_sync_counts(const Problem& problem, const Config& c);

}  // namespace warptime::workloads::gemm
