// The block of outputs that a lane of a library's fp32 kernel keeps.
// Source: warpsize in the names of xmma kernels, and the loads of their SASS.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

/// Outputs of a lane. From 128 rows on, two warps share a tile along M and the others share it along N.
/// Within a warp, 8 lanes stand along M and 4 along N.
struct LaneBlock {
    int rows = 1, columns = 1;
};

[[nodiscard]] inline LaneBlock lane_block(const Config& c) {
    constexpr int two_warps_from = 128, lanes_along_m = 8, lanes_along_n = 4;
    const int along_m = c.cta_m >= two_warps_from ? std::min(2, c.warps) : 1;
    return {std::max(1, c.cta_m / (along_m * lanes_along_m)),
            std::max(1, c.cta_n * along_m / (c.warps * lanes_along_n))};
}

/// Passes in which a CTA brings its tile to memory through shared memory. Each pass takes 32 rows of each
/// warp (shared bytes and grids of the reductions of eight tiles).
[[nodiscard]] inline int store_passes(const Config& c) {
    constexpr int rows_of_pass = 4;
    return std::max(1, lane_block(c).rows / rows_of_pass);
}

}  // namespace warptime::workloads::gemm
