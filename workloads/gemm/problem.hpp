// A matrix product C[m, n] = A[m, k] B[k, n], possibly batched, and the tiling that a kernel uses for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

using hw::Dtype;

/// Of numbers from 0 and sizes from 1: how many of a size cover a number.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t number, std::int64_t size) {
    return (number + size - 1) / size;
}

/// Contiguous index of an operand: k, or the other one (m of A, n of B).
enum class Major : std::uint8_t { k, other };

/// Sizes in elements; leading dimensions 0 mean dense. C is row-major [m, n].
struct Problem {
    std::int64_t m = 0, n = 0, k = 0, batch = 1;
    Dtype a = Dtype::bf16, b = Dtype::bf16, accumulator = Dtype::fp32, out = Dtype::bf16;
    Major a_major = Major::k, b_major = Major::k;
    std::int64_t lda = 0, ldb = 0, ldc = 0;

    /// Largest power of two, at most 16, that divides the pitch of every matrix in bytes: what one copy can
    /// move.
    [[nodiscard]] int row_alignment() const;

    /// The type that the matrix instruction multiplies: the wider of both operands, to which a kernel
    /// converts the other one (that work is not counted); A's where they are equally wide.
    [[nodiscard]] Dtype multiplied() const { return hw::bits_of(b) > hw::bits_of(a) ? b : a; }

    /// Of A, B and C.
    [[nodiscard]] double bytes() const;

    [[nodiscard]] double flop() const {
        return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
               static_cast<double>(batch);
    }
};

enum class MatrixInstruction : std::uint8_t { automatic, simt, mma_sync, wgmma, tcgen05 };
enum class Pipeline : std::uint8_t { automatic, sync, cp_async, tma };
enum class Specialization : std::uint8_t { none, cooperative, pingpong };
/// How splits of K become one. The last two are fp32 kernels of a library: partial tiles lie in a workspace
/// and are added up by a kernel of their own, block by block, or by whichever CTA of a tile comes last.
enum class Reduction : std::uint8_t { atomic, workspace, serial, blocks, last_cta };

/// Whether partial sums go to memory of their own.
[[nodiscard]] constexpr bool needs_workspace(Reduction reduction) {
    return reduction == Reduction::workspace || reduction == Reduction::blocks ||
           reduction == Reduction::last_cta;
}

/// cta_m x cta_n of C per tile, cta_k per pipeline stage. `warps`: consumer warps where warps are
/// specialised, else all. `transposed`: the matrix instruction's M runs along n (a library that computes
/// C^T). 0 = to be estimated.
struct Config {
    int cta_m = 0, cta_n = 0, cta_k = 0;
    int cluster_m = 1, cluster_n = 1;
    int stages = 0;
    int warps = 0;
    int group = 1;
    model::kernel::Raster raster = model::kernel::Raster::along_n;
    int split_k = 1;
    Reduction reduction = Reduction::workspace;
    model::kernel::ScheduleKind schedule = model::kernel::ScheduleKind::one_per_cta;
    Pipeline pipeline = Pipeline::automatic;
    Specialization specialization = Specialization::none;
    MatrixInstruction mma = MatrixInstruction::automatic;
    bool transposed = false;
    int registers = 0;
    std::int64_t shared_bytes = 0;
    std::int64_t max_ctas = 0;    ///< grid limit of a persistent kernel; 0: one per resident slot
    bool strides_by_16 = false;   ///< the compiler knows of a stride only whether 16 divides it (Triton)
    bool strides_known = false;   ///< of these, the strides are constants of its source (torch.compile)
    bool one_cta_per_sm = false;  ///< a persistent grid of as many CTAs as there are SMs
    int copy_bytes = 16;          ///< per lane of a cp.async or plain load; less where rows are not aligned
    int copy_bytes_b = 0;         ///< of B's copies, where they differ from A's
    int mma_k = 0;                ///< K of mma.sync; 0: 32 bytes of it
    int lane_bytes_a = 16;  ///< neighbouring bytes of a row that a lane fetches, in pieces of copy_bytes
    int lane_bytes_b = 16;
    int store_bytes = 16;          ///< of C per lane of a plain store; less where rows are not aligned
    bool fragments_ahead = false;  ///< operands of the next step are read while this one is multiplied
    int copy_conflicts = 0;        ///< passes that lanes of a copy wait for one another at banks of the stage
    bool turned_a =
        false;  ///< wgmma reads the operand's type along K only, where it does not lie: lanes turn it
    bool turned_b = false;
    bool dot_products = false;      ///< few rows: half warps take columns of C whole, as gemv kernels do
    bool streamed_columns = false;  ///< one row: warps take columns of C straight to registers, as gemvx does
    bool whole_bands = false;       ///< the grid has CTAs for tiles that its last band lacks, as CUTLASS 2's
    bool square_warp_tiles = false;  ///< warps share the tile out as squarely as they can; else along M first

    friend bool operator==(const Config&, const Config&) = default;
};

/// What one lane copies of A or of B at a time.
[[nodiscard]] inline int copy_bytes_of(const Config& config, bool is_a) {
    return is_a || config.copy_bytes_b == 0 ? config.copy_bytes : config.copy_bytes_b;
}

/// Bytes of one pipeline stage (A and B tile).
[[nodiscard]] std::int64_t stage_bytes(const Problem& problem, const Config& config);

/// The order that CUTLASS 3 takes when none is asked for: the shorter side of the grid runs fastest
/// (include/cutlass/gemm/kernel/tile_scheduler_params.h, RasterOrderOptions::Heuristic).
[[nodiscard]] model::kernel::Raster heuristic_raster(const Problem& problem, const Config& config);

}  // namespace warptime::workloads::gemm
