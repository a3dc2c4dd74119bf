// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/warp_products.hpp"

#include "hw/dtype.hpp"
#include "workloads/gemm/triton_turning.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace {

/// Warps that share M and N; others take other parts of K.
int warps_of_slice(const Config& c) {
    return std::max(1, c.warps / c.slice_k);
}

/// Warps along M as Triton shares a tile (lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp,
/// warpsPerTileV2). The side with more instructions left for a warp gets the next warps; N if both have the
/// same number. The ldmatrix of 55 compiled loops confirm this rule.
int triton_warps_along_m(const Config& c) {
    int along_m = 1;
    int along_n = 1;
    while (along_m * along_n < warps_of_slice(c)) {
        const bool more_rows = c.cta_m / 16 / along_m > c.cta_n / 16 / along_n;
        (more_rows && along_m < c.cta_m / 16 ? along_m : along_n) *= 2;
    }
    return along_m;
}

/// Warps along M: Triton's layout, or the layout whose warp tiles read least, as CUTLASS's shapes do.
int warps_along_m(const Config& c) {
    if (!c.square_warp_tiles) {
        return triton_warps_along_m(c);
    }
    int best = 1;
    const int all = warps_of_slice(c);
    for (int along_m = 1; along_m <= all; along_m *= 2) {
        const auto side = [&](int warps) { return c.cta_m / warps + c.cta_n * warps / all; };
        best = side(along_m) < side(best) ? along_m : best;
    }
    return best;
}

}  // namespace

int mma_sync_k(const Problem& problem, const Config& c) {
    return c.mma_k > 0 ? c.mma_k : 32 / hw::bytes_of(problem.multiplied());
}

WarpCounts mma_sync_counts(const Problem& problem, const Config& c) {
    const int warps_m = warps_along_m(c);
    const int warps_n = std::max(1, warps_of_slice(c) / warps_m);
    const int warp_m = std::max(16, c.cta_m / warps_m);
    const int warp_n = std::max(8, c.cta_n / warps_n);
    const int slice = c.cta_k / c.slice_k;
    const std::int64_t k_steps = std::max(1, slice / mma_sync_k(problem, c));
    const std::int64_t k_rows = std::max(1, slice * hw::bytes_of(problem.a) / 32);
    // Eight columns of two steps have as many bytes as sixteen columns of one step.
    const std::int64_t loads_b = warp_n < 16 ? (k_rows + 1) / 2 : k_rows * (warp_n / 16);
    const std::int64_t single = bytes_read_singly(problem, c, warp_n);
    return {k_steps * (warp_m / 16) * (warp_n / 8),
            k_rows * std::max(1, warp_m / 16) + (single > 0 ? 0 : loads_b), single};
}

}  // namespace warptime::workloads::gemm
