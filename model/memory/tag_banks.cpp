// SPDX-License-Identifier: Apache-2.0
#include "model/memory/tag_banks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>

namespace warptime::model::memory {

namespace {

constexpr std::uint32_t bits(std::initializer_list<int> of) {
    std::uint32_t mask = 0;
    for (const int bit : of) mask |= 1U << bit;
    return mask;
}

constexpr std::uint32_t both = bits({11, 14, 19});
constexpr std::uint32_t first = bits({7, 9, 12, 16, 18}) | both;
constexpr std::uint32_t second = bits({8, 10, 13, 15, 17}) | both;

}  // namespace

int tag_bank(std::int64_t address) {
    const auto low = static_cast<std::uint32_t>(address);
    return (std::popcount(low & first) & 1) + 2 * (std::popcount(low & second) & 1);
}

int tag_turns(const LaneAddresses& at, std::int64_t line) {
    std::array<int, 4> lines{};
    std::int64_t before = -1;
    for (const std::int64_t address : at) {
        // Lanes of a line stand side by side.
        if (address / line == before) continue;
        before = address / line;
        ++lines[static_cast<std::size_t>(tag_bank(address))];
    }
    return *std::max_element(lines.begin(), lines.end());
}

double mean_tag_turns(const LaneAddresses& at, std::int64_t pitch, std::int64_t line) {
    constexpr int starts = 16, lanes = 32;
    double turns = 0.0;
    for (int start = 0; start < starts; ++start) {
        // Rows of further trips, and other columns.
        const std::int64_t offset = start * (lanes * pitch + 3 * line / 4);
        LaneAddresses moved = at;
        for (std::int64_t& address : moved) address += offset;
        turns += tag_turns(moved, line);
    }
    return turns / starts;
}

}  // namespace warptime::model::memory
