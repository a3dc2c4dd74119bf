// Loops that read words which other threads change, and the order in which the L2 serves the warps of a grid.
// SPDX-License-Identifier: Apache-2.0
//
// A loop races where its end follows from strong loads or atomics: another try of an exchange, or a walk
// along pointers that others move. How often it goes round depends on what others have done meanwhile. So the
// warps of all resident CTAs take turns by a clock. A load or an atomic ends a turn, and the warp goes on
// when the slices of the L2 have served its sectors, one after the other in the order of the turns, and the
// way back is over. Warps that want one word queue for it, as on the GPU, and what a thread has read is as
// old. Ignores: the L1, DRAM, and lanes that go on without those that yield. An instruction takes a cycle.
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"
#include "workloads/frontends/machine/chip/chip.hpp"
#include "workloads/frontends/machine/interpreter/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// By function whether a loop of it races. In such functions loads and atomics are marked to end a turn.
/// `functions`: first instruction and count of each. Polling loops are known already (waits.hpp).
[[nodiscard]] std::vector<bool> find_races(std::span<const AssemblyLine* const> lines,
                                           std::span<const std::pair<std::uint32_t, std::uint32_t>> functions,
                                           std::vector<Instruction>& code);

/// The slices of the L2, which serve one sector at a time. A line's number chooses its slice.
class SliceQueues {
  public:
    SliceQueues(const Chip& chip, std::size_t instructions);

    /// Serves the sectors of an access that is made at cycle `now`, or each lane of an atomic by itself.
    /// Gives the cycle at which the warp has its data.
    double serve(const Instruction& instruction, std::span<const std::uint64_t> addresses, Mask enabled,
                 bool each_lane, double now);

    /// By instruction: what it asked of the slice that was asked most by all, by the mean over the slices.
    /// 1 where it asked for nothing.
    [[nodiscard]] std::vector<double> skews() const;

  private:
    std::size_t slices_;
    double interval_, latency_;
    std::uint64_t sector_bytes_, line_bytes_;
    std::vector<double> free_;           ///< cycle from which each slice is free
    std::vector<std::uint64_t> served_;  ///< by instruction and slice
};

}  // namespace warptime::workloads::frontends::machine
