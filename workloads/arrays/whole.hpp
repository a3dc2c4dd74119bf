// Arithmetic of whole numbers that launches need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace warptime::workloads::arrays {

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}
/// Logarithm to base two of a positive number, rounded down.
[[nodiscard]] constexpr std::int64_t floor_log2(std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n))) - 1;
}
/// The same, rounded up.
[[nodiscard]] constexpr std::int64_t ceil_log2(std::int64_t n) {
    return n <= 1 ? 0 : floor_log2(n - 1) + 1;
}

}  // namespace warptime::workloads::arrays
