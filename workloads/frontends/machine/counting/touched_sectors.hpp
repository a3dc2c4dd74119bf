// Which sectors of global memory one instruction has touched, over all CTAs that ran.
// Ignores: allocations of more than a gigabyte, whose bits would take too much room.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// How many sectors were touched, and how many lie from the first of them to the last, added up over
/// allocations.
struct TouchedCount {
    std::uint64_t sectors = 0;
    std::uint64_t span = 0;
};

/// A bit for each sector of the allocations that the instruction reaches.
class TouchedSectors {
  public:
    /// Notes the enabled lanes' places within the allocation; places elsewhere are left out. `sector_shift`:
    /// logarithm of a sector's bytes.
    void note(const Allocation& allocation, const std::array<std::uint64_t, 32>& addresses,
              std::uint32_t lanes, unsigned sector_shift);
    [[nodiscard]] TouchedCount count() const;

  private:
    struct Part {
        std::uint64_t first = 0;  ///< sector of the allocation's first byte
        std::vector<std::uint64_t> bits;
    };
    [[nodiscard]] Part* part_of(const Allocation& allocation, unsigned sector_shift);

    std::vector<Part> parts_;
    std::size_t last_ = 0;
};

}  // namespace warptime::workloads::frontends::machine
