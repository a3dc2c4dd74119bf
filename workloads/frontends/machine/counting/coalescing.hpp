// What the 32 addresses of a warp's access cost: sectors and lines of global memory, passes over the banks of
// shared memory. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
/// may take. Accesses of 8 bytes are served by half-warps and those of 16 bytes by quarter-warps, each of
/// which takes the most distinct words of a bank; groups that are half empty join their neighbours.
[[nodiscard]] std::uint32_t count_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                         std::uint32_t width);

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
