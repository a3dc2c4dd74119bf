// Cycles in which the L1's tag stage looks up the lines of one instruction: four banks, one line a bank and
// cycle.
// Ignores: address bits beyond the masks, which move all lanes alike.
// Source: Nsight Compute's conflicts of single loads whose lanes lie in two lines, one address bit apart
// (H200).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/shared/bank_conflicts.hpp"

#include <cstdint>

namespace warptime::model::machine {

/// Address bits whose parities are the two bits of a bank's number (keys l1.tag_bank_low and
/// l1.tag_bank_high).
struct TagBanks {
    std::uint32_t low = 0, high = 0;
};

/// Bank of the line that begins at a byte address.
[[nodiscard]] int tag_bank(std::int64_t address, const TagBanks& banks);

/// Cycles of one instruction: most lines of any bank.
[[nodiscard]] int tag_turns(const LaneAddresses& at, std::int64_t line, const TagBanks& banks);

/// Mean cycles of lanes whose rows lie `pitch` bytes apart, over the places where the first row may begin.
[[nodiscard]] double mean_tag_turns(const LaneAddresses& at, std::int64_t pitch, std::int64_t line,
                                    const TagBanks& banks);

}  // namespace warptime::model::machine
