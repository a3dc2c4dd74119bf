// The pieces of every GEMM kernel: its buffers, the accesses of one stage, its epilogue.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// How many tiles are shared by stream-K, and how many iterations of them a CTA takes.
struct SharedTiles {
    std::int64_t tiles = 0;
    std::int64_t share = 0;
};

struct Parts {
    const Problem& problem;
    const Config& config;
    model::kernel::Builder& builder;
    std::int64_t k_iterations = 0;  ///< of a whole tile
    SharedTiles shared{};           ///< with stream-K
    std::int64_t ctas = 0;          ///< with stream-K: the grid
    bool ldmatrix = true;           ///< whether the GPU has ldmatrix (sm_75 on)
    model::kernel::Id a = -1, b = -1, c = -1, workspace = -1, stages = -1, staged_c = -1;
    model::kernel::Id spilled = -1;
    model::kernel::Id scales_a = -1, scales_b = -1;  ///< with block scales
    // Many accesses share these expressions, so each is written once.
    model::kernel::Index trips{};      ///< of the main loop: the k-iterations of the work item
    model::kernel::Index k_element{};  ///< first element along k of the current iteration
    model::kernel::Index batch{};
    model::kernel::Index tile_m{}, tile_n{};  ///< first row and column of the tile
};

/// Adds the global and shared buffers to the kernel.
void add_buffers(Parts& parts);

/// Writes the shared expressions.
void add_indices(Parts& parts);

enum class Matrix : std::uint8_t { a, b };

/// Adds to the latest op the access that fetches one stage of A or B. The access is a box of the tile,
/// `ahead` iterations after the current k-iteration. In a cluster each CTA fetches its share and multicasts
/// the share to the other CTAs of its row (column).
void add_stage_access(const Parts& parts, Matrix matrix, int ahead);

/// The same for the block scales of that tile.
void add_scale_access(const Parts& parts, Matrix matrix, int ahead);

struct StageTokens {
    model::kernel::Id group;    ///< the asynchronous copies of a warp, `stages` deep
    model::kernel::Id barrier;  ///< of all warps of the CTA
};

/// Adds the tokens on which warps that copy for themselves wait.
[[nodiscard]] StageTokens add_stage_tokens(Parts& parts);

/// Lets a copy of the main loop run only if its iteration exists, `ahead` iterations after the current one.
void guard_fetch(const Parts& parts, model::kernel::Op& copy, int ahead);

/// Adds to the latest op the tile's write to C, or to the split-K workspace (one slice a split).
void add_store_access(const Parts& parts);

/// Whether several CTAs of a split add to the same tile in place.
[[nodiscard]] bool adds_atomically(const Config& config);

/// Adds the wgmma instructions that one warp of a group issues for a stage: count, shape and issue class.
model::kernel::Op& add_wgmma_of_stage(Parts& parts, int warpgroups_per_tile);

/// Converts the tile, stages it through shared memory and stores it; `warps` take part.
void add_epilogue(Parts& parts, int warps, bool bulk_store);

/// Brings the lanes' blocks to memory in `store_passes`, as the library's fp32 kernels do. Parts of a split
/// go to the workspace, where the last CTA of a tile may add them up.
void add_block_epilogue(Parts& parts);

/// Main loops, one for each way of overlapping copies and arithmetic.
void add_specialized_roles(Parts& parts);
void add_pipelined_role(Parts& parts);
void add_multistage_role(Parts& parts);
void add_simt_role(Parts& parts);
void add_block_product_role(Parts& parts);
void add_dot_product_role(Parts& parts);
void add_streamed_columns_role(Parts& parts);
void add_descriptor_role(Parts& parts);

}  // namespace warptime::workloads::gemm
