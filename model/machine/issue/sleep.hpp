// How long a warp sleeps that asks for a time: it wakes when a timer passes the next multiple of a power of
// two of nanoseconds, the least one that is not below what was asked for. Source: ladder of sleeps
// (validate/recorded/h100-sxm/ladders/sleeps.csv): sleeps in a row of 350 to 512 ns take 490, of 513 to 1024
// ns 980, of 1025 to 2048 ns 2010, of 20 000 ns 32 210, with one warp and with 64 an SM; single ones take
// anything up to that. Ignores: that none of less than 32 ns was seen, since the loop around it takes as
// long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace warptime::model::machine {

/// Nanoseconds between two times at which a warp may wake.
[[nodiscard]] constexpr std::uint64_t sleep_period_ns(std::uint32_t asked) {
    return std::bit_ceil(std::uint64_t{asked});
}

/// Mean of a sleep that begins anywhere in the period.
[[nodiscard]] constexpr double mean_sleep_ns(std::uint32_t asked) {
    return 0.5 * static_cast<double>(sleep_period_ns(asked));
}

}  // namespace warptime::model::machine
