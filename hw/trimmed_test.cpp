// Tests of text without blanks at both ends.
// SPDX-License-Identifier: Apache-2.0
#include "hw/trimmed.hpp"

#include <doctest/doctest.h>

using warptime::hw::trimmed;

TEST_CASE("blanks go at both ends and stay within") {
    CHECK(trimmed(" \t4.8 TB/s\r") == "4.8 TB/s");
    CHECK(trimmed("4.8 TB/s") == "4.8 TB/s");
    CHECK(trimmed("").empty());
    CHECK(trimmed(" \t ").empty());
}
