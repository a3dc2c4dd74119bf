// Passes that one warp-wide access to shared memory takes, with padding and swizzles.
// Ignores: conflicts between warps and with asynchronous writes.
// Source: CUDA Programming Guide 13, "Shared Memory" (32 banks of 4 bytes; equal words are broadcast; 64- and
// 128-bit accesses go by half and quarter warps). Which of these join: counters of
// validate/recorded/h200-sxm/kernels (docs/mechanisms/machine-code.md). Swizzles: PTX ISA 8.7, tensor
// swizzling modes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/demand/lane_addresses.hpp"

#include <cstdint>
#include <span>

namespace warptime::model::machine {

/// Powers of two; at most 128 banks.
struct BankGeometry {
    std::int64_t banks = 0;
    std::int64_t bank_bytes = 0;
    [[nodiscard]] std::int64_t pass_bytes() const { return banks * bank_bytes; }
    friend bool operator==(const BankGeometry&, const BankGeometry&) = default;
};

enum class SharedUse : std::uint8_t { load, store };

/// Passes of an access of 1, 2, 4, 8 or 16 bytes per lane. Lanes that fill one pass (32, 16 or 8) form a
/// phase. A phase takes as many passes as the busiest bank has distinct words, and none without an active
/// lane. For a load, two halves of a warp (8 bytes) and two quarters of a half (16 bytes) are one phase where
/// every lane has the address of its neighbour at distance 1, or every lane that of its neighbour at distance
/// 2. Stores never join (microbench_bank_conflicts, stride 0).
[[nodiscard]] std::int64_t shared_passes(const LaneAddresses& addresses, int bytes_per_lane,
                                         std::uint32_t active, BankGeometry geometry, SharedUse use) noexcept;

/// Passes of an atomic operation: a bank serves one lane a pass, equal words or not.
[[nodiscard]] std::int64_t shared_atomic_passes(const LaneAddresses& addresses, int bytes_per_lane,
                                                std::uint32_t active, BankGeometry geometry) noexcept;

/// Closed form when all 32 lanes read at base + i x stride: phases x gcd(stride / bytes_per_lane, lanes of a
/// phase), of a store; a load takes half of
/// the phases where the stride is 0. Base and stride are multiples of bytes_per_lane (4, 8 or
/// 16); bank counts are powers of two.
[[nodiscard]] std::int64_t shared_passes_strided(std::int64_t stride, int bytes_per_lane,
                                                 BankGeometry geometry, SharedUse use) noexcept;

/// Expected passes when `lanes` lanes each read bytes_per_lane bytes at random in a window of `window_bytes`.
/// The fullest bank decides. Each place of a bank is hit with probability 1 - (1 - 1/places)^lanes. Places
/// count as independent, so hits are binomial. The largest of n such numbers exceeds k with probability 1 -
/// F(k)^n. Balls into bins: Johnson and Kotz, Urn Models and Their Application, 1977.
[[nodiscard]] double expected_passes(double lanes, int bytes_per_lane, double window_bytes,
                                     BankGeometry geometry) noexcept;

/// Passes of an ldmatrix of rows.size() / 8 matrices (1, 2 or 4). Each matrix is a phase of 8 rows of 16
/// bytes at the given addresses.
[[nodiscard]] std::int64_t ldmatrix_passes(std::span<const std::int64_t> rows,
                                           BankGeometry geometry) noexcept;

/// Address of a tile's byte under the swizzle of the tensor memory accelerator. For 128, 64 or 32 bytes,
/// address bits 4-6, 4-5 or 4 are XORed with bits 7-9, 7-8 or 7. Any other `swizzle_bytes` leaves the address
/// unchanged.
[[nodiscard]] constexpr std::int64_t swizzled(std::int64_t address, int swizzle_bytes) noexcept {
    const std::int64_t mask = swizzle_bytes == 128  ? 7
                              : swizzle_bytes == 64 ? 3
                              : swizzle_bytes == 32 ? 1
                                                    : 0;
    return address ^ (address >> 7 & mask) << 4;
}

}  // namespace warptime::model::machine
