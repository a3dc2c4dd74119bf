// SPDX-License-Identifier: Apache-2.0
#include "model/memory/tag_banks.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warptime::model::memory {

int tag_bank(std::int64_t address, const TagBanks& banks) {
    const auto bits = static_cast<std::uint32_t>(address);
    return (std::popcount(bits & banks.low) & 1) + 2 * (std::popcount(bits & banks.high) & 1);
}

int tag_turns(const LaneAddresses& at, std::int64_t line, const TagBanks& banks) {
    std::array<int, 4> lines{};
    std::int64_t before = -1;
    for (const std::int64_t address : at) {
        // Lanes of a line stand side by side.
        if (address / line == before) continue;
        before = address / line;
        ++lines[static_cast<std::size_t>(tag_bank(address, banks))];
    }
    return *std::max_element(lines.begin(), lines.end());
}

double mean_tag_turns(const LaneAddresses& at, std::int64_t pitch, std::int64_t line, const TagBanks& banks) {
    constexpr int starts = 16, lanes = 32;
    double turns = 0.0;
    for (int start = 0; start < starts; ++start) {
        // Rows of further trips, and other columns.
        const std::int64_t offset = start * (lanes * pitch + 3 * line / 4);
        LaneAddresses moved = at;
        for (std::int64_t& address : moved) address += offset;
        turns += tag_turns(moved, line, banks);
    }
    return turns / starts;
}

}  // namespace warptime::model::memory
