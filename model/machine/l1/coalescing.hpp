// Sectors and lines that one warp-wide access to global memory touches.
// Ignores: requests of several instructions that merge in L1, and the order in which sectors are served.
// Source: CUDA Programming Guide 13, "Device Memory Accesses" (32-byte sectors in 128-byte lines).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/demand/lane_addresses.hpp"

#include <cstdint>

namespace warptime::model::machine {

/// Sizes in bytes. Powers of two are fast.
struct CacheGeometry {
    std::int64_t sector = 0;
    std::int64_t line = 0;
    std::int64_t granule = 0;        ///< bytes that DRAM brings at once; 0: not known
    std::int64_t constant_line = 0;  ///< bytes of a line of the nearest cache of constants; 0: not known
    friend bool operator==(const CacheGeometry&, const CacheGeometry&) = default;
};

struct Coalesced {
    std::int64_t sectors = 0;
    std::int64_t lines = 0;
    std::int64_t requests = 0;  ///< 1 if any lane is active
    friend bool operator==(const Coalesced&, const Coalesced&) = default;
};

/// Counts distinct sectors and lines of `bytes_per_lane` bytes, at most two sectors and a line, at each
/// active lane's address. Addresses >= 0.
[[nodiscard]] Coalesced coalesce(const LaneAddresses& addresses, int bytes_per_lane, std::uint32_t active,
                                 CacheGeometry geometry) noexcept;

}  // namespace warptime::model::machine
