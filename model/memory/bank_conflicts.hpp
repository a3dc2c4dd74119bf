// Passes that one warp-wide access to shared memory takes, with padding and swizzles.
// Ignores: conflicts between different warps and with asynchronous writes; the pass-merging of 64-bit
// accesses whose two half-warps read the same words.
// Source: CUDA Programming Guide 13, "Shared Memory" (32 banks of 4 bytes; equal words are broadcast; 64- and
// 128-bit accesses go by half and quarter warps); PTX ISA 8.7, tensor swizzling modes, for the swizzle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/memory/coalescing.hpp"

#include <cstdint>
#include <span>

namespace warptime::model::memory {

struct BankGeometry {
    std::int64_t banks = 32;
    std::int64_t bank_bytes = 4;
    [[nodiscard]] std::int64_t pass_bytes() const { return banks * bank_bytes; }
};

/// Passes of an access of 1, 2, 4, 8 or 16 bytes per lane. The warp is served in phases of as many lanes as
/// fill one pass (32, 16 or 8); a phase takes as many passes as the busiest bank has distinct words, and
/// phases without an active lane take none.
[[nodiscard]] std::int64_t shared_passes(const LaneAddresses& addresses, int bytes_per_lane,
                                         std::uint32_t active = all_lanes,
                                         BankGeometry geometry = {}) noexcept;

/// The same in closed form when all 32 lanes read at base + i x stride, both multiples of bytes_per_lane
/// (4, 8 or 16) and bank counts a power of two: phases x gcd(stride / bytes_per_lane, lanes of a phase).
[[nodiscard]] std::int64_t shared_passes_strided(std::int64_t stride, int bytes_per_lane,
                                                 BankGeometry geometry = {}) noexcept;

/// Passes to be expected when `lanes` lanes each read bytes_per_lane bytes at a place drawn anew from a
/// window of `window_bytes`: the fullest of the banks, over whose rows the places are dealt out. Each place
/// of a bank is hit with probability 1 - (1 - 1/places)^lanes, taken as independent, so that the number hit
/// is binomial, and the largest of n such numbers exceeds k with probability 1 - F(k)^n (balls into bins;
/// Johnson and Kotz, Urn Models and Their Application, 1977). 3.5 passes for 32 lanes in a large window.
[[nodiscard]] double expected_passes(double lanes, int bytes_per_lane, double window_bytes,
                                     BankGeometry geometry = {}) noexcept;

/// Passes of an ldmatrix of rows.size() / 8 matrices (1, 2 or 4): each matrix is a phase of 8 rows of 16
/// bytes at the addresses given.
[[nodiscard]] std::int64_t ldmatrix_passes(std::span<const std::int64_t> rows,
                                           BankGeometry geometry = {}) noexcept;

/// Where a byte of a tile goes under the swizzle of the tensor memory accelerator: with 128, 64 or 32 bytes,
/// address bits 4-6, 4-5 or 4 are XORed with bits 7-9, 7-8 or 7. Any other `swizzle_bytes`: unchanged.
[[nodiscard]] constexpr std::int64_t swizzled(std::int64_t address, int swizzle_bytes) noexcept {
    const std::int64_t mask = swizzle_bytes == 128  ? 7
                              : swizzle_bytes == 64 ? 3
                              : swizzle_bytes == 32 ? 1
                                                    : 0;
    return address ^ (address >> 7 & mask) << 4;
}

/// Smallest padding in bytes (a multiple of bytes_per_lane) after each row of `row_bytes` that makes a column
/// of accesses of bytes_per_lane free of conflicts: the padded row is an odd number of accesses long.
[[nodiscard]] constexpr std::int64_t conflict_free_padding(std::int64_t row_bytes,
                                                           int bytes_per_lane) noexcept {
    return row_bytes / bytes_per_lane % 2 == 0 ? bytes_per_lane : 0;
}

}  // namespace warptime::model::memory
