// Addresses that the lanes of one warp give a memory instruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace warptime::model::machine {

inline constexpr int lanes_per_warp = 32;

/// Byte address of each lane; lanes outside the mask take no part.
using LaneAddresses = std::array<std::int64_t, lanes_per_warp>;
inline constexpr std::uint32_t all_lanes = 0xffffffffU;

}  // namespace warptime::model::machine
