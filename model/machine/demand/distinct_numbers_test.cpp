// Tests of counting different numbers against a set.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/distinct_numbers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

using warptime::model::machine::DistinctNumbers;

TEST_CASE("each number has one place, and new numbers get the next") {
    CHECK(rc::check("as a map", [] {
        DistinctNumbers numbers;
        std::map<std::int64_t, std::size_t> places;
        const auto range = *rc::gen::element<std::int64_t>(2, 40, 100);
        const auto step = *rc::gen::element<std::int64_t>(1, 32, 1LL << 40);
        const int calls = *rc::gen::inRange(1, 200);
        for (int i = 0; i < calls; ++i) {
            const std::int64_t value = step * *rc::gen::inRange<std::int64_t>(-range / 2, range / 2);
            const std::size_t expected = places.emplace(value, places.size()).first->second;
            RC_ASSERT(numbers.place_of(value) == expected);
            RC_ASSERT(numbers.count() == places.size());
        }
    }));
}
