// DRAM reads of operands that CTAs share through L2, from the order of the tiles and the room in L2.
// Ignores: hashing (L2 is one LRU store; sets only by `ways`), drift between CTAs of a wave, and lines that
// writes displace unless given as streamed.
// Source: stack distances of LRU, Mattson et al. 1970, doi.org/10.1147/sj.92.0078, applied to waves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/tile_order.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace warptime::model::machine {

/// One input of the kernel, cut into slices. A slice is everything that one tile reads of the operand; the
/// flags name the coordinates that select it. A of a GEMM: along_m, along_batch, along_split; a slice has bm
/// x K / split elements.
struct Operand {
    bool along_m = false;
    bool along_n = false;
    bool along_batch = false;
    bool along_split = false;
    double slice_bytes = 0.0;  ///< bytes of one slice, with padding at the edges
    /// Bytes of the whole operand without padding; 0 means slices x slice_bytes. When given, a slice counts
    /// its average share, so that the first read of everything is exact.
    double total_bytes = 0.0;
    double room = 1.0;  ///< room of a byte in L2, relative to a byte that all SMs read
    friend bool operator==(const Operand&, const Operand&) = default;
};

struct OperandTraffic {
    double requested_bytes = 0.0;   ///< asked of L2: every item reads its slice
    double wave_bytes = 0.0;        ///< distinct slices of each wave, added over the waves
    double compulsory_bytes = 0.0;  ///< every slice once
    double dram_bytes = 0.0;  ///< first reads and repeated reads; compulsory <= dram <= wave, to rounding
};

struct ReuseCase {
    TileOrder order;
    std::int64_t concurrent = 1;                            ///< items in flight at a time: one wave
    double capacity_bytes = 0.0;                            ///< bytes of L2 that data read by all SMs can use
    double ways = std::numeric_limits<double>::infinity();  ///< lines of a set; lines fall into sets evenly
    double streamed_bytes_per_item = 0.0;  ///< room of other bytes that pass through L2 with each item
    friend bool operator==(const ReuseCase&, const ReuseCase&) = default;
};

/// Number of operands that need no allocation.
inline constexpr std::size_t usual_operands = 4;

/// Fills `traffic[i]` for `operands[i]` in closed form. Exact when everything fits in L2,
/// and for up to five waves when nothing survives a wave. Elsewhere the test states the distance from
/// reference_l2_reuse. Both spans have the same length; counts in `reuse` are >= 1.
void l2_reuse(const ReuseCase& reuse, std::span<const Operand> operands, std::span<OperandTraffic> traffic);

/// Simulates the same traffic: waves in turn, an LRU store of `chunks` pieces per slice, slices of a wave
/// swept in step. Slow (items x operands x chunks); it checks the closed form.
void reference_l2_reuse(const ReuseCase& reuse, std::span<const Operand> operands, int chunks,
                        std::span<OperandTraffic> traffic);

}  // namespace warptime::model::machine
