// Stream-K: the k-iterations of all tiles, or of the last one to two waves of tiles, are dealt out evenly. A
// CTA that begins inside a tile leaves its sums in a workspace. The CTA with the tile's first iteration adds
// them. Ignores: the wait for a part, which a CTA computes first and so long before its owner ends. Source:
// Osama et al. 2023, arXiv:2301.03598, sections 4 and 5.2; SASS of validate/recorders/product_kernels.py.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

[[nodiscard]] SharedTiles shared_tiles(StreamK kind, std::int64_t tiles, std::int64_t k_iterations,
                                       std::int64_t ctas);

/// Throws Error naming the parameter that stream-K does not go with.
void check_stream_k(const Config& config);

/// Writes out the items of `ctas` CTAs, and sets the grid. Every CTA has its whole tiles first: the order
/// within a CTA changes no time.
void list_stream_k(const Config& config, std::int64_t ctas, model::kernel::Kernel& kernel);

/// Before a tile's epilogue: the store of a part, the sum of the others' parts, and the beginning of a loop
/// that only the owner of a tile goes through. The caller ends that loop.
void begin_owned_tile(Parts& parts, int warps);

}  // namespace warptime::workloads::gemm
