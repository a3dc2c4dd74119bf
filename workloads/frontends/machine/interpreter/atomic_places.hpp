// How unevenly atomics on a buffer go to the slices of the L2, counted by instruction over all that it
// executes. Some bits of a line's number choose its place in a small set. In a longer set the other bits
// shuffle the places, so that neighbouring lines which share a place keep together. Ignores: when the passes
// come, and how the GPU really shuffles. Source: model/machine/atomics/atomics.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/chip/chip.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Passes of one instruction, by the places of their lines.
class AtomicPlaces {
  public:
    /// A pass over a sector of line `line` of its buffer.
    void add(std::uint64_t line, const L2Timing& l2);

    /// Adds the passes of another instruction on the same buffer. Nobody waits for an addition, so that those
    /// of several instructions are under way together.
    void add(const AtomicPlaces& other);

    /// Passes of the place that is asked most, by the mean over the slices of the L2; 1 where nothing has
    /// been counted. `whole`: all that the launch executes has been counted. A part of it shows chance
    /// besides, by which the fullest of equal places exceeds the mean; that much does not count.
    [[nodiscard]] double skew(const L2Timing& l2, bool whole) const;

    [[nodiscard]] std::uint64_t passes() const { return passes_; }

  private:
    std::uint64_t first_ = ~0ULL, last_ = 0;  ///< lines
    std::uint64_t passes_ = 0;
    std::vector<std::uint64_t> by_place_;  ///< empty until the first pass
    std::vector<std::uint64_t> shuffled_;  ///< the same with places as in a longer set
};

}  // namespace warptime::workloads::frontends::machine
