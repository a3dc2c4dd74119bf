// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/coalescing.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr std::uint64_t line_bytes = 128;
constexpr std::uint32_t banks = 32;

std::uint32_t distinct(std::span<std::uint64_t> values) {
    std::ranges::sort(values);
    const auto rest = std::ranges::unique(values);
    return static_cast<std::uint32_t>(values.size() - rest.size());
}

/// Most distinct words that one bank is asked for by the lanes of the mask.
std::uint32_t passes_of_group(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                              std::uint32_t width) {
    const std::uint32_t words = std::max(1U, width / 4U);
    std::array<std::array<std::uint64_t, 32>, banks> held;  // NOLINT: filled as far as `count` says.
    std::array<std::uint8_t, banks> count{};
    std::uint32_t most = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        for (std::uint32_t w = 0; w < words; ++w) {
            const std::uint64_t word = address[lane] / 4U + w;
            const auto bank = static_cast<std::size_t>(word % banks);
            const auto end = held[bank].begin() + count[bank];
            if (std::find(held[bank].begin(), end, word) == end && count[bank] < 32) {
                held[bank][count[bank]++] = word;
                most = std::max<std::uint32_t>(most, count[bank]);
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
    std::array<std::uint64_t, 64> sectors{};
    std::size_t count = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::uint64_t first = address[static_cast<std::size_t>(std::countr_zero(left))];
        const std::uint64_t begin = first / sector_bytes;
        const std::uint64_t end = (first + std::max(width, 1U) - 1) / sector_bytes;
        if (count == 0 || sectors[count - 1] != begin) {
            sectors[count++] = begin;
        }
        if (end != begin) {
            sectors[count++] = end;
        }
    }
    LineCount result;
    const std::span<std::uint64_t> used(sectors.data(), count);
    result.sectors = distinct(used);
    std::array<std::uint64_t, 64> lines{};
    std::ranges::transform(used, lines.begin(),
                           [](std::uint64_t sector) { return sector * sector_bytes / line_bytes; });
    result.lines = distinct(std::span(lines.data(), count));
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
