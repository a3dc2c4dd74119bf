// Hash of a few numbers, for tables of kept results.
// Source: multiplicative hashing by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warptime::hw {

/// Hash with one more part. The upper half of the result is mixed best.
[[nodiscard]] constexpr std::uint64_t hashed(std::uint64_t hash, std::uint64_t part) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;  // 2^64 / 1.618...
    return (hash ^ part) * golden;
}

}  // namespace warptime::hw
