// The dirty share of the L2 against sums by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/system/residue.hpp"

#include <doctest/doctest.h>

using warptime::model::system::Residue;

TEST_CASE("what was written last is dirty until as many other bytes have come") {
    Residue residue(100.0);
    CHECK(residue.dirty_share() == 0.0);
    residue.take(40.0, 20.0);
    CHECK(residue.dirty_share() == doctest::Approx(0.2));
    residue.take(50.0, 30.0);
    CHECK(residue.dirty_share() == doctest::Approx(0.5));
    residue.take(30.0, 0.0);  // part of the first one's lines is still there
    CHECK(residue.dirty_share() == doctest::Approx(0.5));
    residue.take(20.0, 0.0);  // the later ones fill the L2
    CHECK(residue.dirty_share() == doctest::Approx(0.3));
    residue.take(100.0, 0.0);
    CHECK(residue.dirty_share() == 0.0);
}

TEST_CASE("an operation larger than the L2 leaves it full of what it wrote, and no fuller") {
    Residue residue(100.0);
    residue.take(1000.0, 400.0);
    CHECK(residue.dirty_share() == 1.0);
    residue.take(1000.0, 30.0);
    CHECK(residue.dirty_share() == doctest::Approx(0.3));
    residue.take(20.0, 500.0);  // writes no more than it touches
    CHECK(residue.dirty_share() == doctest::Approx(0.5));
}
