// A cache with random victims, by the equation that its share solves and by a cache that is played through.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/kept_at_random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace machine = warptime::model::machine;

TEST_CASE("a line stays through a round of random victims as long as its equation says") {
    CHECK(machine::kept_at_random(0.5) == 1.0);
    CHECK(machine::kept_at_random(1.0) == 1.0);
    for (const double fill : {1.01, 1.3, 2.0, 5.0}) {
        const double kept = machine::kept_at_random(fill);
        CHECK(kept > 0.0);
        CHECK(kept < 1.0);
        CHECK(kept == doctest::Approx(std::exp(-fill * (1.0 - kept))));
    }
}

TEST_CASE("a visitor that goes round and round finds as much in a cache that throws lines out at random") {
    constexpr std::size_t room = 400;
    for (const std::size_t set : {480U, 640U, 1200U}) {
        std::mt19937_64 random(set);
        std::vector<std::size_t> cache(room, set);  // lines; `set` is none
        std::vector<bool> there(set);
        double found = 0.0;
        constexpr int rounds = 400, warm_up = 50;
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t line = 0; line < set; ++line) {
                if (there[line]) {
                    found += round >= warm_up ? 1.0 : 0.0;
                    continue;
                }
                std::size_t& place = cache[random() % room];
                if (place < set) there[place] = false;
                place = line;
                there[line] = true;
            }
        }
        const double share = found / static_cast<double>(set * (rounds - warm_up));
        CHECK(machine::kept_at_random(static_cast<double>(set) / room) ==
              doctest::Approx(share).epsilon(0.02));
    }
}
