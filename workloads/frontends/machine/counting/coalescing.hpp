// What the 32 addresses of a warp's access cost: sectors and lines of global memory, passes over the banks of
// shared memory. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

struct LineCount {
    std::uint32_t sectors = 0;  ///< distinct 32-byte sectors
    std::uint32_t lines = 0;    ///< distinct 128-byte lines
};

/// Distinct sectors and lines that the lanes of the mask touch with `width` bytes each.
[[nodiscard]] LineCount count_lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                    std::uint32_t width);

/// Passes (wavefronts) over 32 banks of 4 bytes. A pass gives each bank one word, which any number of lanes
/// may take. Accesses of 8 bytes are served by half-warps, those of 16 bytes by quarter-warps, each of which
/// takes the most distinct words of a bank. Two halves of a warp (8 bytes) and two quarters of a half (16
/// bytes) are served as one where every lane agrees with its neighbour at distance 1, or every lane with that
/// at distance 2. (Measured: validate/recorded/h200-sxm/kernels; docs/mechanisms/machine-code.md.)
[[nodiscard]] std::uint32_t count_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                         std::uint32_t width);

/// Passes of an atomic operation on shared memory: a bank serves one lane a pass, equal words or not.
[[nodiscard]] std::uint32_t count_atomic_passes(const std::array<std::uint64_t, 32>& address,
                                                std::uint32_t lanes, std::uint32_t width);

/// Parts the lanes into rounds of different addresses, the n-th lane of each address in round n: equal
/// addresses of an atomic operation are served one round after the other. `rounds` must be zeros; gives their
/// number.
[[nodiscard]] std::size_t rounds_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                    std::array<std::uint32_t, 32>& rounds);

/// Calls take(lanes) for each of them.
template <class Take>
void for_each_round(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, Take take) {
    std::array<std::uint32_t, 32> rounds{};
    const std::size_t count = rounds_of(address, lanes, rounds);
    for (std::size_t round = 0; round < count; ++round) {
        take(rounds[round]);
    }
}

/// The last pattern that an instruction was asked for, and what it costs. Most instructions come with the
/// same one again: addresses that differ from it by a multiple of 128 bytes cost the same.
class PatternMemo {
  public:
    [[nodiscard]] LineCount lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width);
    [[nodiscard]] std::uint32_t passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                       std::uint32_t width);

  private:
    /// True when the pattern is the one kept; keeps it otherwise.
    bool same(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width);

    std::array<std::uint64_t, 32> relative_{};  ///< to the line of the first lane; 0 for lanes that are off
    std::uint32_t lanes_ = 0;
    std::uint32_t width_ = 0;
    LineCount lines_;
    std::uint32_t passes_ = 0;
};

}  // namespace warptime::workloads::frontends::machine
