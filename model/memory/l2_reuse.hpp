// DRAM reads of operands that CTAs share through L2, from the order of the tiles and what fits in L2.
// Ignores: sets and hashing (L2 counts as one fully associative LRU store), drift between the CTAs of a wave
// (they sweep their slices in step, so that one read serves all of them), and lines that writes displace
// unless their bytes are given as streamed.
// Source: stack distances of LRU, Mattson et al. 1970, doi.org/10.1147/sj.92.0078, applied to waves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/occupancy/tile_order.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace warptime::model::memory {

/// One input of the kernel, cut into slices: a slice is everything that one tile reads of it, and depends on
/// the tile's coordinates named here. GEMM A: along_m, along_batch, along_split; slice = bm x K / split x
/// size.
struct Operand {
    bool along_m = false;
    bool along_n = false;
    bool along_batch = false;
    bool along_split = false;
    double slice_bytes = 0.0;  ///< of one slice, padding at the edges included
    /// Bytes of the whole operand without padding; 0: slices x slice_bytes. When given, a slice counts its
    /// average share of it, so that the first read of everything is exact.
    double total_bytes = 0.0;
    double room = 1.0;  ///< that a byte takes, of what one takes that all SMs read
    friend bool operator==(const Operand&, const Operand&) = default;
};

struct OperandTraffic {
    double requested_bytes = 0.0;   ///< every item reads its slice: what the SMs ask of L2
    double wave_bytes = 0.0;        ///< distinct slices of each wave, added over the waves
    double compulsory_bytes = 0.0;  ///< every slice once
    double dram_bytes = 0.0;        ///< first reads and re-reads; compulsory <= dram <= wave (to rounding)
};

struct ReuseCase {
    occupancy::TileOrder order;
    std::int64_t concurrent = 1;                            ///< items in flight at a time: one wave
    double capacity_bytes = 0.0;                            ///< of L2 that data read by all SMs can use
    double ways = std::numeric_limits<double>::infinity();  ///< lines of a set; lines fall into sets evenly
    double streamed_bytes_per_item = 0.0;  ///< room of other bytes that pass through L2 with each item
    friend bool operator==(const ReuseCase&, const ReuseCase&) = default;
};

/// At most this many operands are counted.
inline constexpr std::size_t most_operands = 4;

/// Fills `traffic[i]` for `operands[i]`; closed form, no allocation. Exact when everything fits in L2, and
/// with up to five waves of which nothing survives; otherwise, with any number of ways, its test states the
/// distance from reference_l2_reuse. Both spans have the same length, at most most_operands. Counts in
/// `reuse` are >= 1.
void l2_reuse(const ReuseCase& reuse, std::span<const Operand> operands,
              std::span<OperandTraffic> traffic) noexcept;

/// The same by simulation: waves one after another, an LRU store of `chunks` pieces per slice, all slices of
/// a wave swept in step. Slow (items x operands x chunks); the yardstick of the closed form.
void reference_l2_reuse(const ReuseCase& reuse, std::span<const Operand> operands, int chunks,
                        std::span<OperandTraffic> traffic);

}  // namespace warptime::model::memory
