// How long a warp is at an instruction when no other warp is in its way: until its next instruction, as the
// compiler has written into the code, and the way to the L2 and back where it waits for a load. Of several
// warps the slowest is the one that takes longest by this measure: a warp that goes from load to load is
// slower than one that computes, which executes more. Ignores: where loads find their data, waits for shared
// memory and for other warps, and units that are busy. Source: stalls and scoreboards in the code (Jia et
// al., arXiv:1804.06826, section 2).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"
#include "workloads/frontends/machine/interpreter/instruction.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Marks the instructions that wait for a load from global memory, by the scoreboards that the code names.
/// `functions`: first instruction and count of each.
void find_load_waits(std::span<const AssemblyLine* const> lines,
                     std::span<const std::pair<std::uint32_t, std::uint32_t>> functions,
                     std::vector<Instruction>& code);

/// Cycles of a warp at an instruction. `load_latency`: cycles from a load to its data.
[[nodiscard]] inline std::uint64_t pace_of(const Instruction& instruction, std::uint64_t load_latency) {
    return std::max<std::uint64_t>(1, instruction.control.stall) +
           (instruction.waits_for_load ? load_latency : 0);
}

/// Cycles of stretches of code that runs straight on.
class PaceOfCode {
  public:
    PaceOfCode(std::span<const Instruction> code, std::uint64_t load_latency) : before_{0} {
        for (const Instruction& one : code) before_.push_back(before_.back() + pace_of(one, load_latency));
    }
    /// Of `count` instructions from `first` on, in cycles.
    [[nodiscard]] std::uint64_t of(std::uint32_t first, std::uint32_t count) const {
        return before_[first + count] - before_[first];
    }

  private:
    std::vector<std::uint64_t> before_;  ///< by instruction: cycles of all that stand before it
};

}  // namespace warptime::workloads::frontends::machine
