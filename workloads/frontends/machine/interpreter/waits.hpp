// Loops that read words again until another warp has changed them, and how deeply a grid's waits lie behind
// each other.
// SPDX-License-Identifier: Apache-2.0
//
// A loop waits where all that it does is to look: strong loads, or atomics that fail, at addresses that it
// does not change. Turns that look in vain are left out of counts and traces but for the first of each wait,
// since only the GPU's clock says how many there are. Words that strong stores and atomics write carry the
// depth of their writer: the number of waits, one behind another over any CTAs, that came before.
// Ignores: waits by plain loads, which compilers may hoist; words told of by plain stores behind a fence.
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"
#include "workloads/frontends/machine/interpreter/instruction.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct Warp;

/// Instructions [first, last] of a loop that only looks; the last one jumps back to the first.
struct PollingLoop {
    std::uint32_t first = 0, last = 0;
};

/// Whether a loop's last line, a branch, follows from words that its strong loads and atomics have read.
[[nodiscard]] bool ends_by_looks(std::span<const AssemblyLine* const> loop);

/// Polling loops of all code. Marks their instructions, those that read what they wait for, and those that
/// may end another warp's wait. `functions`: first instruction and count of each function.
[[nodiscard]] std::vector<PollingLoop> find_polls(
    std::span<const AssemblyLine* const> lines,
    std::span<const std::pair<std::uint32_t, std::uint32_t>> functions, std::vector<Instruction>& code);

/// Waits of a launch, one behind another. A hand-over goes from a wait to what its warp tells next.
struct HandOvers {
    /// What was told of by a word: the depth of the teller, its last wait and its instruction.
    struct Told {
        std::uint32_t depth = 0, wait = 0, instruction = 0;
    };
    std::unordered_map<std::uint64_t, Told> told;  ///< by address of a word
    std::uint32_t deepest = 0;                     ///< waits behind one another, of any warp
    std::uint32_t own = 0;                         ///< of these, waits of the deepest warp's CTA itself
    /// Hand-overs that were waited for, by the instructions of wait and telling.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> between;
};

/// The warp looks at words, or tells of them, by an access to global memory.
void note_words(Warp& warp, const Instruction& instruction, std::span<const std::uint64_t> addresses,
                Mask enabled, bool stores, HandOvers& hand_overs);
/// The warp has left a polling loop.
void end_wait(Warp& warp, HandOvers& hand_overs);

}  // namespace warptime::workloads::frontends::machine
