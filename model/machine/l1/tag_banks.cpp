// Turns of the L1's tag banks, eight starts of the first row at a time. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/tag_banks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>

namespace warptime::model::machine {

namespace {

/// Numbers for eight starts of the first row, as many as one vector register of any x86-64 or Arm holds.
constexpr std::uint32_t side_by_side = 8;
using Starts [[gnu::vector_size(side_by_side * sizeof(std::uint16_t))]] = std::uint16_t;

/// Lines by bank, in bytes: with the low bit, with the high bit, with both bits, and all.
struct TagTally {
    Starts either{}, both_and_all{};
};

/// The 16 bits of a line's number that choose its bank.
struct LineBanks {
    int shift;
    std::uint16_t low, high;
};

/// Counts one line for each start; `fresh` has all ones where the line was not yet counted.
void count(const Starts& number, const Starts& fresh, const LineBanks& banks, TagTally& tally) {
    // The parities of both masks' bits, folded into bits 0 and 8.
    const Starts low = number & banks.low;
    const Starts high = number & banks.high;
    Starts bits = ((low ^ (low >> 8)) & 0xff) | ((high ^ (high << 8)) & 0xff00);
    bits ^= bits >> 4;
    bits ^= bits >> 2;
    bits ^= bits >> 1;
    bits &= fresh & 0x0101;
    tally.either += bits;
    tally.both_and_all += (bits & (bits >> 8)) + (fresh & 0x0100);
}

int most_of_a_bank(const TagTally& tally, std::size_t start) {
    const int low = tally.either[start] & 0xff;
    const int high = tally.either[start] >> 8;
    const int both = tally.both_and_all[start] & 0xff;
    const int all = tally.both_and_all[start] >> 8;
    return std::max({all - low - high + both, low - both, high - both, both});
}

/// Number of an address's line. The address's lowest 32 bits hold all bits that choose a bank.
std::uint16_t line_of(std::uint32_t address, int shift) {
    return static_cast<std::uint16_t>(address >> shift);
}
std::uint16_t byte_of(std::uint32_t address, int shift) {
    return static_cast<std::uint16_t>(address & ((1U << shift) - 1U));
}

/// State of eight starts of the first row, `step` bytes apart: their offsets to all addresses, and their
/// counts.
struct Moved {
    Starts lines{}, bytes{}, before{};
    TagTally tally;

    Moved(std::uint32_t first, std::uint32_t step, int shift) {
        for (std::uint32_t start = 0; start < side_by_side; ++start) {
            lines[start] = line_of(first + start * step, shift);
            bytes[start] = byte_of(first + start * step, shift);
        }
    }
    [[nodiscard]] Starts line(std::int64_t address, int shift) const {
        const auto bits = static_cast<std::uint32_t>(address);
        return line_of(bits, shift) + lines + ((byte_of(bits, shift) + bytes) >> shift);
    }
};

/// End of the lanes from `first` on that follow one another by at most a line. Such lanes touch every line
/// between the first and the last, wherever lines begin.
std::size_t end_of_row(const LaneAddresses& at, std::size_t first, std::int64_t line) {
    std::size_t end = first + 1;
    while (end < at.size() && at[end] >= at[end - 1] && at[end] - at[end - 1] <= line) ++end;
    return end;
}

void count_row(std::int64_t first, std::int64_t last, bool apart, std::int64_t line, const LineBanks& banks,
               Moved& moved) {
    Starts number = moved.line(first, banks.shift);
    const auto anyway = static_cast<std::uint16_t>(apart ? 0xffff : 0);
    count(number, static_cast<Starts>(number != moved.before) | anyway, banks, moved.tally);
    moved.before = number;
    if (last == first) return;
    moved.before = moved.line(last, banks.shift);
    for (std::int64_t counted = first; counted < last; counted += line) {
        const Starts fresh = static_cast<Starts>(number != moved.before);
        number += fresh & 1;
        count(number, fresh, banks, moved.tally);
    }
}

}  // namespace

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
    constexpr std::int64_t lanes = 32;
    const int shift = std::countr_zero(static_cast<std::uint32_t>(line));
    const LineBanks of_lines{shift, static_cast<std::uint16_t>(banks.low >> shift),
                             static_cast<std::uint16_t>(banks.high >> shift)};
    // Rows of further trips, and other columns.
    const auto step = static_cast<std::uint32_t>(lanes * pitch + 3 * line / 4);
    std::array<Moved, 2> halves{Moved(0, step, shift), Moved(side_by_side * step, step, shift)};
    for (std::size_t lane = 0, end = 0; lane < at.size(); lane = end) {
        end = end_of_row(at, lane, line);
        // Only lanes closer than a line may share one.
        const bool apart = lane == 0 || std::abs(at[lane] - at[lane - 1]) >= line;
        for (Moved& half : halves) count_row(at[lane], at[end - 1], apart, line, of_lines, half);
    }
    int turns = 0;
    for (const Moved& half : halves) {
        for (std::size_t start = 0; start < side_by_side; ++start) turns += most_of_a_bank(half.tally, start);
    }
    return static_cast<double>(turns) / static_cast<double>(halves.size() * side_by_side);
}

}  // namespace warptime::model::machine
