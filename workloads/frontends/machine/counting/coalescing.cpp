// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/coalescing.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t line_bytes = 128;
constexpr std::uint32_t banks = 32;

/// Up to 64 different numbers, each with a place of its own: a table of 128 entries with open addresses.
class Distinct {
  public:
    /// The place of the number, which is new when it is the count of before.
    std::size_t place_of(std::uint64_t value) {
        if (count_ != 0 && values_[last_] == value) {
            return last_;
        }
        constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15ULL;
        std::size_t entry = (value * golden) >> (64U - table_bits);
        while (table_[entry] != 0 && values_[table_[entry] - std::size_t{1}] != value) {
            entry = (entry + 1) % table_.size();
        }
        if (table_[entry] == 0) {
            values_[count_] = value;
            table_[entry] = static_cast<std::uint8_t>(++count_);
        }
        last_ = table_[entry] - std::size_t{1};
        return last_;
    }
    [[nodiscard]] std::size_t count() const { return count_; }

  private:
    static constexpr unsigned table_bits = 7;
    std::array<std::uint8_t, 1U << table_bits> table_{};  ///< 1 + place; 0: free
    std::array<std::uint64_t, 64> values_;                // NOLINT: filled as far as `count_` says.
    std::size_t count_ = 0;
    std::size_t last_ = 0;
};

/// Bits of all addresses of the lanes together: the lower ones are 0 where every address is a multiple.
std::uint64_t all_bits(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes) {
    std::uint64_t bits = 0;
    for (std::size_t lane = 0; lane < address.size(); ++lane) {
        bits |= address[lane] & (0U - std::uint64_t{(lanes >> lane) & 1U});
    }
    return bits;
}

/// Sectors of the one line that all lanes touch, as bits; 0 where there are several lines, or accesses that
/// are not multiples of their width.
std::uint32_t sectors_of_one_line(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width) {
    const std::uint64_t first = address[static_cast<std::size_t>(std::countr_zero(lanes))];
    std::uint64_t different = 0, low = 0, sectors = 0;
    for (std::size_t lane = 0; lane < address.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(lanes >> lane) & 1U};
        different |= (address[lane] ^ first) & on;
        low |= address[lane] & on;
        sectors |= (std::uint64_t{1} << (address[lane] % line_bytes / sector_bytes)) & on;
    }
    const bool whole = std::has_single_bit(width) && width <= sector_bytes && (low & (width - 1U)) == 0;
    return whole && different / line_bytes == 0 ? static_cast<std::uint32_t>(sectors) : 0U;
}

/// Most distinct words that one bank is asked for by the lanes of the mask.
std::uint32_t passes_of_group(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                              std::uint32_t width) {
    // Addresses that are multiples of the width take neighbouring banks together: those are one bank then.
    const bool whole = width >= 4 && (all_bits(address, lanes) & (width - 1U)) == 0;
    const std::uint32_t unit = whole ? width : 4U;
    const std::uint32_t words = whole ? 1U : std::max(1U, width / 4U);
    const auto shift = static_cast<unsigned>(std::countr_zero(unit));
    const std::uint32_t units = banks * 4U / unit;
    Distinct taken;
    std::array<std::uint8_t, banks> count{};
    std::uint32_t most = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        for (std::uint32_t w = 0; w < words; ++w) {
            const std::uint64_t word = (address[lane] >> shift) + w;
            const std::size_t before = taken.count();
            if (taken.place_of(word) == before) {
                most = std::max<std::uint32_t>(most, ++count[static_cast<std::size_t>(word % units)]);
            }
        }
    }
    return most;
}

/// Every active lane has the address of the lane whose number differs in the bit, unless that one is off.
bool neighbours_agree(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::size_t bit) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::size_t other = lane ^ bit;
        if (((lanes >> other) & 1U) != 0 && address[lane] != address[other]) {
            return false;
        }
    }
    return true;
}

}  // namespace

LineCount count_lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                      std::uint32_t width) {
    if (lanes == 0) {
        return {};
    }
    // Lanes side by side, as most accesses are: the range says it all.
    if (lanes == 0xffffffffU) {
        bool side_by_side = true;
        for (std::size_t lane = 1; lane < 32; ++lane) {
            side_by_side = side_by_side && address[lane] == address[0] + lane * width;
        }
        if (side_by_side) {
            const std::uint64_t last = address[31] + width - 1;
            return {static_cast<std::uint32_t>(last / sector_bytes - address[0] / sector_bytes + 1),
                    static_cast<std::uint32_t>(last / line_bytes - address[0] / line_bytes + 1)};
        }
    }
    if (const std::uint32_t sectors = sectors_of_one_line(address, lanes, width); sectors != 0) {
        return {static_cast<std::uint32_t>(std::popcount(sectors)), 1};
    }
    Distinct lines;
    std::array<std::uint8_t, 64> sectors{};  // of each line, as bits
    const auto touch = [&lines, &sectors](std::uint64_t sector) {
        constexpr std::uint64_t of_line = line_bytes / sector_bytes;
        sectors[lines.place_of(sector / of_line)] |= static_cast<std::uint8_t>(1U << (sector % of_line));
    };
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::uint64_t first = address[static_cast<std::size_t>(std::countr_zero(left))];
        touch(first / sector_bytes);
        touch((first + std::max(width, 1U) - 1) / sector_bytes);
    }
    LineCount result;
    result.lines = static_cast<std::uint32_t>(lines.count());
    for (std::size_t line = 0; line < lines.count(); ++line) {
        result.sectors += static_cast<std::uint32_t>(std::popcount(sectors[line]));
    }
    return result;
}

std::uint32_t count_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                           std::uint32_t width) {
    if (lanes == 0) {
        return 0;
    }
    if (width <= 4) {
        if (lanes == 0xffffffffU) {
            // Lanes side by side, or all at one word.
            bool side_by_side = true;
            bool together = true;
            for (std::size_t lane = 1; lane < 32; ++lane) {
                side_by_side = side_by_side && address[lane] == address[0] + lane * 4;
                together = together && address[lane] / 4 == address[0] / 4;
            }
            if (side_by_side || together) {
                return 1;
            }
        }
        return passes_of_group(address, lanes, width);
    }
    // 8 bytes: half-warps of the warp. 16 bytes: quarter-warps of each half.
    std::uint32_t sum = 0;
    const std::uint32_t whole = width == 8 ? 32U : 16U;
    for (std::uint32_t first = 0; first < 32U; first += whole) {
        const std::uint32_t members =
            lanes & static_cast<std::uint32_t>(((std::uint64_t{1} << whole) - 1U) << first);
        if (neighbours_agree(address, members, 1) || neighbours_agree(address, members, 2)) {
            sum += passes_of_group(address, members, width);
            continue;
        }
        const std::uint32_t lower =
            members & static_cast<std::uint32_t>(((std::uint64_t{1} << (whole / 2U)) - 1U) << first);
        sum += passes_of_group(address, lower, width) + passes_of_group(address, members & ~lower, width);
    }
    return std::max(1U, sum);
}

std::uint32_t count_atomic_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width) {
    std::array<std::uint32_t, banks> count{};
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::uint64_t word = address[static_cast<std::size_t>(std::countr_zero(left))] / 4U;
        for (std::uint32_t w = 0; w < std::max(1U, width / 4U); ++w) {
            ++count[static_cast<std::size_t>((word + w) % banks)];
        }
    }
    return std::ranges::max(count);
}

std::size_t rounds_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                      std::array<std::uint32_t, 32>& rounds) {
    Distinct places;
    std::array<std::uint8_t, 32> served{};  // Lanes of each address before.
    std::size_t count = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::size_t place = places.place_of(address[static_cast<std::size_t>(std::countr_zero(left))]);
        const std::size_t round = served[place]++;
        rounds[round] |= left & (0U - left);
        count = std::max(count, round + 1);
    }
    return count;
}

bool PatternMemo::same(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                       std::uint32_t width) {
    const std::uint64_t line =
        address[static_cast<std::size_t>(std::countr_zero(lanes))] / line_bytes * line_bytes;
    std::array<std::uint64_t, 32> relative;  // NOLINT: filled whole below.
    std::uint64_t different = 0;
    for (std::size_t lane = 0; lane < relative.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(lanes >> lane) & 1U};
        relative[lane] = (address[lane] - line) & on;
        different |= relative[lane] ^ relative_[lane];
    }
    if (different == 0 && lanes == lanes_ && width == width_) {
        return true;
    }
    relative_ = relative;
    lanes_ = lanes;
    width_ = width;
    return false;
}

LineCount PatternMemo::lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                             std::uint32_t width) {
    if (lanes == 0) {
        return {};
    }
    if (!same(address, lanes, width)) {
        lines_ = count_lines(address, lanes, width);
        passes_ = 0;
    } else if (lines_.lines == 0) {
        lines_ = count_lines(address, lanes, width);
    }
    return lines_;
}

std::uint32_t PatternMemo::passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width) {
    if (lanes == 0) {
        return 0;
    }
    if (!same(address, lanes, width)) {
        passes_ = count_passes(address, lanes, width);
        lines_ = {};
    } else if (passes_ == 0) {
        passes_ = count_passes(address, lanes, width);
    }
    return passes_;
}

}  // namespace warptime::workloads::frontends::machine
