// How many CTAs lie between one touch of a sector of global memory and the next, over all CTAs that ran.
// Ignores: allocations of more than a quarter of a gigabyte, whose times would take too much room, and when
// within a CTA.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Touches by one instruction of sectors that any has touched before, by the CTAs since then.
class TouchDistances {
  public:
    /// `units`: of `unit` CTAs each.
    void add(unsigned units) noexcept;
    /// An allocation is reached: are its times kept?
    void reach(bool kept) noexcept { (kept ? reached_ : lost_) = true; }
    /// Whether the instruction reached allocations, and the times of all of them are kept.
    [[nodiscard]] bool known() const noexcept { return reached_ && !lost_; }
    /// Touches after more than so many units. Those of a kind are taken to lie evenly between its ends.
    [[nodiscard]] double further_than(double units) const noexcept;

  private:
    /// None, 1, 2 to 3, 4 to 7 and so on.
    std::array<std::uint64_t, 17> again_{};
    bool reached_ = false, lost_ = false;
};

/// Keeps for each sector of the allocations that a launch reaches the CTA that touched it last.
class LastTouches {
  public:
    explicit LastTouches(std::uint64_t ctas = 1);
    /// CTAs that count as one, so that a short number holds them.
    [[nodiscard]] std::uint64_t unit() const noexcept { return unit_; }
    /// Notes a warp's touches by a CTA at the enabled lanes' places. `sector_shift`: logarithm of a sector's
    /// bytes.
    void note(const Allocation& allocation, const std::array<std::uint64_t, 32>& addresses,
              std::uint32_t lanes, unsigned sector_shift, std::uint64_t cta, TouchDistances& distances);

  private:
    struct Part {
        std::uint64_t first = 0;          ///< sector of the allocation's first byte
        std::vector<std::uint16_t> last;  ///< CTA by sector, from 1 on; 0: not touched yet
    };
    [[nodiscard]] Part& part_of(const Allocation& allocation, unsigned sector_shift);

    std::uint64_t unit_ = 1;
    std::vector<Part> parts_;
    std::size_t recent_ = 0;
};

}  // namespace warptime::workloads::frontends::machine
