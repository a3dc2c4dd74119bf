// A matrix product C[m, n] = A[m, k] B[k, n], possibly batched, and the tiling of its kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>
#include <string_view>

namespace warptime::workloads::gemm {

using hw::Dtype;

/// How many pieces of a size cover a number, for numbers from 0 and sizes from 1.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t number, std::int64_t size) {
    return (number + size - 1) / size;
}

/// The contiguous index of an operand: k, or the other one (m of A, n of B).
enum class Major : std::uint8_t { k, other };

/// What is applied to C before it is stored.
enum class Epilogue : std::uint8_t { none, bias, relu, gelu, silu, residual, scale };

/// Sizes in elements of the types a and b; a leading dimension of 0 means dense. C is row-major [m, n].
struct Problem {
    std::int64_t m = 0, n = 0, k = 0, batch = 1;
    bool packed_b = false;  ///< int4: two weights in each byte of B (then int8) along K
    int scale_block = 0;    ///< numbers along K that share a scale of one byte; 0: no block scales
    Dtype a = Dtype::bf16, b = Dtype::bf16, accumulator = Dtype::fp32, out = Dtype::bf16;
    Major a_major = Major::k, b_major = Major::k;
    std::int64_t lda = 0, ldb = 0, ldc = 0;
    Epilogue epilogue = Epilogue::none;

    /// The widest possible copy in bytes: the largest power of two, at most 16, that divides every matrix's
    /// pitch.
    [[nodiscard]] int row_alignment() const;

    /// The type that the matrix instruction multiplies: the wider one of both operands' types, or A's if they
    /// are equal. A kernel converts the other operand to this type; that work is counted for weights of 8 and
    /// 4 bits in Triton's kernels only.
    [[nodiscard]] Dtype multiplied() const { return hw::bits_of(b) > hw::bits_of(a) ? b : a; }

    /// Elements of B in one of its stored elements.
    [[nodiscard]] std::int64_t packing_of_b() const { return packed_b ? 2 : 1; }

    /// Stored elements of so many along K. Memory holds four 6-bit numbers in three bytes, which the copies
    /// to shared memory spread to a byte each (PTX ISA 8.7, tensor map types).
    [[nodiscard]] std::int64_t stored_along_k(std::int64_t elements, bool is_a) const {
        if (a == Dtype::mxfp6) return elements * 3 / 4;
        return is_a ? elements : elements / packing_of_b();
    }

    /// Elements along K that share a scale; 1 where there are none.
    [[nodiscard]] int elements_of_scale() const {
        return scale_block > 0 ? scale_block / hw::numbers_in(a) : 1;
    }

    /// The name of A's type for a user, who does not see how 4-bit numbers are stored.
    [[nodiscard]] std::string_view name_of_type() const;

    /// Bytes of A, B and C together, and of what the epilogue reads.
    [[nodiscard]] double bytes() const;

    [[nodiscard]] double flop() const {
        return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
               static_cast<double>(batch) * hw::numbers_in(a);
    }
};

enum class MatrixInstruction : std::uint8_t { automatic, simt, mma_sync, wgmma, tcgen05 };
enum class Pipeline : std::uint8_t { automatic, sync, cp_async, tma };
enum class Specialization : std::uint8_t { none, cooperative, pingpong };
/// How splits of K become one result. The last two exist in a library's fp32 kernels, whose partial tiles lie
/// in a workspace. With `blocks` a separate kernel adds the partial tiles up block by block. With `last_cta`
/// the CTA of a tile that finishes last adds them up.
enum class Reduction : std::uint8_t { atomic, workspace, serial, blocks, last_cta };

/// Stream-K: the iterations of all tiles are dealt out evenly, or those of the tiles that fill no whole wave.
enum class StreamK : std::uint8_t { none, all, hybrid };

/// Whether partial sums go to a workspace.
[[nodiscard]] constexpr bool needs_workspace(Reduction reduction) {
    return reduction == Reduction::workspace || reduction == Reduction::blocks ||
           reduction == Reduction::last_cta;
}

/// A tile has cta_m x cta_n elements of C, and a pipeline stage has cta_k along K. `warps` counts consumer
/// warps where warps are specialised, else all warps. `transposed`: the matrix instruction's M runs along n
/// (a library that computes C^T). 0 means that the lowering estimates the number.
struct Config {
    int cta_m = 0, cta_n = 0, cta_k = 0;
    int cluster_m = 1, cluster_n = 1;
    int stages = 0;
    int warps = 0;
    int group = 1;
    model::kernel::Raster raster = model::kernel::Raster::along_n;
    int split_k = 1;
    int slice_k = 1;  ///< groups of warps of a CTA, each with its part of every stage along K
    Reduction reduction = Reduction::workspace;
    model::kernel::ScheduleKind schedule = model::kernel::ScheduleKind::one_per_cta;
    StreamK stream_k = StreamK::none;  ///< its schedule is static_stride
    Pipeline pipeline = Pipeline::automatic;
    Specialization specialization = Specialization::none;
    MatrixInstruction mma = MatrixInstruction::automatic;
    bool transposed = false;
    bool pair = false;  ///< two CTAs along N multiply together (tcgen05 with cta_group::2) and halve A
    int registers = 0;
    std::int64_t shared_bytes = 0;
    std::int64_t max_ctas = 0;    ///< grid limit of a persistent kernel; 0: one per resident slot
    bool strides_by_16 = false;   ///< the compiler only knows whether 16 divides a stride (Triton)
    bool strides_known = false;   ///< with strides_by_16: strides are constants of the source (torch.compile)
    bool one_cta_per_sm = false;  ///< a persistent grid of as many CTAs as there are SMs
    int copy_bytes = 16;          ///< per lane of a cp.async or plain load; less where rows are not aligned
    int copy_bytes_b = 0;         ///< the same for B where it differs from A; 0: copy_bytes
    /// instructions of a warp's trip for places that are no matrix's, in a library's loop of multiply-adds:
    /// once, and for each copy
    double trip_places = 0.0, copy_places = 0.0;
    int mma_k = 0;          ///< K of one mma.sync in elements; 0: 32 bytes along K
    int lane_bytes_a = 16;  ///< neighbouring bytes of a row that a lane fetches, in pieces of copy_bytes
    int lane_bytes_b = 16;
    int store_bytes = 16;          ///< of C per lane of a plain store; less where rows are not aligned
    bool fragments_ahead = false;  ///< the next step's operands are read during this step's products
    int copy_conflicts = 0;        ///< passes by which bank conflicts of the stage lengthen a copy
    bool turned_a = false;         ///< wgmma reads the type along K only, so lanes transpose A
    bool turned_b = false;
    bool dot_products = false;      ///< few rows: half warps take whole columns of C, as gemv kernels do
    bool streamed_columns = false;  ///< one row: warps load columns straight to registers, as gemvx does
    bool whole_bands = false;       ///< the grid fills its last band with CTAs without tiles, as in CUTLASS 2
    bool rewrites_maps = false;     ///< tensor maps are written for each problem of a grouped product
    bool square_warp_tiles = false;  ///< warps share the tile as squarely as possible; else along M first

    friend bool operator==(const Config&, const Config&) = default;
};

/// Bytes that one lane copies of A or of B at a time.
[[nodiscard]] inline int copy_bytes_of(const Config& config, bool is_a) {
    return is_a || config.copy_bytes_b == 0 ? config.copy_bytes : config.copy_bytes_b;
}

/// Bytes of a CTA's tile of A or of B in a stage.
[[nodiscard]] std::int64_t tile_bytes(const Problem& problem, const Config& config, bool is_a);

/// Bytes of the scales of a CTA's tile of A or of B in a stage.
[[nodiscard]] std::int64_t scale_bytes(const Problem& problem, const Config& config, bool is_a);

/// Bytes of one pipeline stage (A and B tile, and their scales).
[[nodiscard]] std::int64_t stage_bytes(const Problem& problem, const Config& config);

/// The order of tiles that CUTLASS 3 takes by default: the shorter side of the grid runs fastest
/// (include/cutlass/gemm/kernel/tile_scheduler_params.h, RasterOrderOptions::Heuristic).
[[nodiscard]] model::kernel::Raster heuristic_raster(const Problem& problem, const Config& config);

}  // namespace warptime::workloads::gemm
