// How long the tag stage of the L1 looks up the lines of one instruction: four banks, each of which takes a
// line a cycle. Ignores: address bits beyond the masks, which move all lanes alike.
// Source: Nsight Compute's conflicts of single loads whose lanes lie in two lines, one address bit apart each
// (H200): bits of one class fall into the same bank, and a third class into what those two give together;
// what it gives for 32 rows agrees with the wavefronts of Triton's gathers (pitches of 2032, 3056, 5008
// bytes: 9.5, 11.3, 10.6 expected, 9.5, 11.1, 10.4 counted). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/memory/bank_conflicts.hpp"

#include <cstdint>

namespace warptime::model::memory {

/// Address bits whose parities are the two bits of a bank's number (l1.tag_bank_low and l1.tag_bank_high).
struct TagBanks {
    std::uint32_t low = 0, high = 0;
};

/// The bank of the line that begins at a byte address.
[[nodiscard]] int tag_bank(std::int64_t address, const TagBanks& banks);

/// Cycles of one instruction: the most lines that one bank has of it.
[[nodiscard]] int tag_turns(const LaneAddresses& at, std::int64_t line, const TagBanks& banks);

/// The same for lanes whose rows are `pitch` bytes apart, averaged over where the first of them may begin.
[[nodiscard]] double mean_tag_turns(const LaneAddresses& at, std::int64_t pitch, std::int64_t line,
                                    const TagBanks& banks);

}  // namespace warptime::model::memory
