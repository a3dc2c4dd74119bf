// Hashes spread over a table at least as evenly as random places, and depend on the order of parts.
// SPDX-License-Identifier: Apache-2.0
#include "hw/hash.hpp"

#include <doctest/doctest.h>

#include <set>

TEST_CASE("numbers that follow one another fall into different places of a table") {
    constexpr std::uint64_t places = 1024, numbers = 512;
    std::set<std::uint64_t> taken;
    for (std::uint64_t number = 0; number < numbers; ++number)
        taken.insert((warptime::hw::hashed(0, number) >> 32U) % places);
    // Random places would take 403 slots.
    CHECK(taken.size() > 403);
    // The order of parts counts.
    CHECK(warptime::hw::hashed(warptime::hw::hashed(0, 1), 2) !=
          warptime::hw::hashed(warptime::hw::hashed(0, 2), 1));
}
