// Sectors and lines of a warp access, by enumeration and in closed form. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/coalescing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warptime::model::machine {

namespace {

/// Distinct blocks of `block` bytes that the active lanes touch.
std::int64_t distinct_blocks(const LaneAddresses& addresses, std::int64_t bytes, std::uint32_t active,
                             std::int64_t block) noexcept {
    std::array<std::int64_t, lanes_per_warp> first{};  // first block of each active lane, sorted below
    std::size_t count = 0;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        if ((active >> lane & 1U) != 0U) {
            first[count++] = addresses[lane];
        }
    }
    std::sort(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count));
    std::int64_t blocks = 0;
    std::int64_t seen = -1;  // last block counted
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t last = (first[i] + bytes - 1) / block;
        blocks += std::max<std::int64_t>(0, last - std::max(seen, first[i] / block - 1));
        seen = std::max(seen, last);
    }
    return blocks;
}

/// Blocks that lanes at one stride touch. Lanes at stride >= block each touch a block of their own, since
/// aligned accesses do not straddle a block. Closer lanes leave no block out between the first and the last.
std::int64_t strided_blocks(std::int64_t base, std::int64_t stride, std::int64_t bytes, std::int64_t lanes,
                            std::int64_t block) noexcept {
    if (stride >= block) {
        return lanes;
    }
    return (base + (lanes - 1) * stride + bytes - 1) / block - base / block + 1;
}

}  // namespace

Coalesced coalesce(const LaneAddresses& addresses, int bytes_per_lane, std::uint32_t active,
                   CacheGeometry geometry) noexcept {
    if (active == 0U || bytes_per_lane <= 0) {
        return {};
    }
    return {distinct_blocks(addresses, bytes_per_lane, active, geometry.sector),
            distinct_blocks(addresses, bytes_per_lane, active, geometry.line), 1};
}

Coalesced coalesce_strided(std::int64_t base, std::int64_t stride, int bytes_per_lane, int lanes,
                           CacheGeometry geometry) noexcept {
    if (lanes <= 0 || bytes_per_lane <= 0) {
        return {};
    }
    const std::int64_t lowest = stride < 0 ? base + (lanes - 1) * stride : base;
    const std::int64_t step = stride < 0 ? -stride : stride;
    return {strided_blocks(lowest, step, bytes_per_lane, lanes, geometry.sector),
            strided_blocks(lowest, step, bytes_per_lane, lanes, geometry.line), 1};
}

}  // namespace warptime::model::machine
