// How many instructions a warp of a Triton kernel with cp.async spends on addresses, masks and conversions.
// Ignores: the order in which ptxas places the instructions, and conversions inside the loop (8-bit types).
// Source: machine code of the 150 compiled tilings of triton_loop (Triton 3.6, sm_90a), least squares. The
// error is 14 instructions before the loop, 5 (wgmma) and 10 (mma.sync) in the loop, and 10 after it. With
// known strides the source is 134 kernels of torch.compile's source (Triton 3.6, sm_80). Their error is 14
// before the loop and 4 in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Copies of `copy_bytes` a lane that one warp issues for `tile_bytes`, at least one.
[[nodiscard]] std::int64_t copies_per_warp(std::int64_t tile_bytes, const Config& config);

/// Copies of A's tile or of B's, in pieces of as many bytes as the rows' alignment allows.
[[nodiscard]] std::int64_t copies_of(const Problem& problem, const Config& config, bool is_a);

/// Instructions of a warp that are neither copies, products nor accesses.
struct TritonInstructions {
    std::int64_t before = 0;    ///< the first copy: the tile's number, rows and columns, pointers, zeros
    std::int64_t of_stage = 0;  ///< masks of each further stage that is copied ahead of the loop
    std::int64_t of_trip = 0;
    std::int64_t after = 0;  ///< the loop: pointers and masks of the results
};
[[nodiscard]] TritonInstructions triton_instructions(const Problem& problem, const Config& config);

}  // namespace warptime::workloads::gemm
