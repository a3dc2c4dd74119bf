// Share of the pieces that lie alone: ends, the middle, and lines of one piece.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/lone_pieces.hpp"

#include <doctest/doctest.h>

using warptime::model::machine::lone_share;

TEST_CASE("one piece of a line lies alone, a whole line does not") {
    CHECK(lone_share(64.0, 64.0, 128.0) == 1.0);
    CHECK(lone_share(96.0, 64.0, 128.0) == doctest::Approx(0.5));
    CHECK(lone_share(128.0, 64.0, 128.0) == 0.0);
    CHECK(lone_share(32.0, 32.0, 128.0) == 1.0);
    CHECK(lone_share(200.0, 64.0, 128.0) == 0.0);
    CHECK(lone_share(64.0, 128.0, 128.0) == 0.0);
}
