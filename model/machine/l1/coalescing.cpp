// Sectors and lines of a warp access. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/coalescing.hpp"

#include "model/machine/demand/distinct_numbers.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace warptime::model::machine {

namespace {

bool is_power_of_two(std::int64_t value) noexcept {
    return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// Distinct blocks of any size that the active lanes touch.
std::int64_t distinct_blocks(const LaneAddresses& addresses, std::int64_t bytes, std::uint32_t active,
                             std::int64_t block) noexcept {
    DistinctNumbers blocks;
    for (std::uint32_t left = active; left != 0; left &= left - 1U) {
        const std::int64_t first = addresses[static_cast<std::size_t>(std::countr_zero(left))];
        for (std::int64_t b = first / block; b <= (first + bytes - 1) / block; ++b) {
            (void)blocks.place_of(b);
        }
    }
    return static_cast<std::int64_t>(blocks.count());
}

/// Sectors of the one line that all lanes touch, as bits; 0 where there are several lines, or accesses that
/// are no multiples of their width.
std::uint32_t sectors_of_one_line(const LaneAddresses& addresses, std::uint64_t bytes, std::uint32_t active,
                                  unsigned sector_shift, std::uint64_t line) noexcept {
    const auto first =
        static_cast<std::uint64_t>(addresses[static_cast<std::size_t>(std::countr_zero(active))]);
    std::uint64_t different = 0, low = 0, sectors = 0;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(active >> lane) & 1U};
        const auto address = static_cast<std::uint64_t>(addresses[lane]);
        different |= (address ^ first) & on;
        low |= address & on;
        sectors |= (std::uint64_t{1} << ((address & (line - 1)) >> sector_shift)) & on;
    }
    const bool whole = std::has_single_bit(bytes) && bytes >> sector_shift <= 1 && (low & (bytes - 1U)) == 0;
    return whole && different < line ? static_cast<std::uint32_t>(sectors) : 0U;
}

/// All lanes side by side, in ascending order.
bool side_by_side(const LaneAddresses& addresses, std::int64_t bytes) noexcept {
    bool so = true;
    for (std::size_t lane = 1; lane < addresses.size(); ++lane) {
        so = so && addresses[lane] == addresses[0] + static_cast<std::int64_t>(lane) * bytes;
    }
    return so;
}

}  // namespace

Coalesced coalesce(const LaneAddresses& addresses, int bytes_per_lane, std::uint32_t active,
                   CacheGeometry geometry) noexcept {
    if (active == 0U || bytes_per_lane <= 0) {
        return {};
    }
    if (!is_power_of_two(geometry.sector) || !is_power_of_two(geometry.line)) {
        return {distinct_blocks(addresses, bytes_per_lane, active, geometry.sector),
                distinct_blocks(addresses, bytes_per_lane, active, geometry.line), 1};
    }
    const auto sector_shift =
        static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(geometry.sector)));
    const auto line_shift =
        static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(geometry.line)));
    if (active == all_lanes && side_by_side(addresses, bytes_per_lane)) {
        const std::int64_t last = addresses[lanes_per_warp - 1] + bytes_per_lane - 1;
        return {(last >> sector_shift) - (addresses[0] >> sector_shift) + 1,
                (last >> line_shift) - (addresses[0] >> line_shift) + 1, 1};
    }
    if (const std::uint32_t sectors =
            sectors_of_one_line(addresses, static_cast<std::uint64_t>(bytes_per_lane), active, sector_shift,
                                static_cast<std::uint64_t>(geometry.line));
        sectors != 0) {
        return {std::popcount(sectors), 1, 1};
    }
    DistinctNumbers lines;
    std::array<std::uint32_t, 2 * lanes_per_warp> sectors{};  // of each line, as bits
    const unsigned of_line = line_shift - sector_shift;
    for (std::uint32_t left = active; left != 0; left &= left - 1U) {
        const std::int64_t first = addresses[static_cast<std::size_t>(std::countr_zero(left))];
        const std::int64_t last = (first + bytes_per_lane - 1) >> sector_shift;
        for (std::int64_t sector = first >> sector_shift; sector <= last; ++sector) {
            const auto place = static_cast<unsigned>(sector & ((std::int64_t{1} << of_line) - 1));
            sectors[lines.place_of(sector >> of_line)] |= 1U << place;
        }
    }
    Coalesced result{0, static_cast<std::int64_t>(lines.count()), 1};
    for (std::size_t line = 0; line < lines.count(); ++line) {
        result.sectors += std::popcount(sectors[line]);
    }
    return result;
}

}  // namespace warptime::model::machine
