// Waves of a grid, and CTAs of an SM in its ragged tail, by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/waves.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::machine;

TEST_CASE("waves of a grid") {
    const Waves waves = waves_of(300, 132);
    CHECK(waves.full_waves == 2);
    CHECK(waves.tail_items == 36);
    CHECK(waves.count() == 3);
    CHECK(waves.ratio == doctest::Approx(300.0 / 132.0));
    CHECK(waves_of(264, 132).count() == 2);
    CHECK(waves_of(0, 132).count() == 0);
    CHECK_THROWS_AS(static_cast<void>(waves_of(1, 0)), warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(waves_of(-1, 4)), warptime::Error);
    CHECK(items_per_persistent_cta(265, 132) == 3);
}

TEST_CASE("the tail runs at the residency of its fullest SM") {
    CHECK(tail_residency(5, 4) == 2);
    CHECK(tail_residency(4, 4) == 1);
    CHECK(tail_residency(0, 4) == 0);
}
