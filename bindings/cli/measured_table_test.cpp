// Units of measured times by their distance from predicted ones.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/measured_table.hpp"

#include <doctest/doctest.h>

using namespace warptime::cli;

TEST_CASE("a table in another unit is told by a factor of a thousand") {
    // Values in ms under the name time_us look a thousand times too small.
    CHECK(likelier_unit("time_us", 1e-3) == "time_ms");
    CHECK(likelier_unit("time_us", 3e-3) == "time_ms");
    CHECK(likelier_unit("time_us", 1e-6) == "time_s");
    CHECK(likelier_unit("time_us", 1e3) == "time_ns");
    CHECK(likelier_unit("time_ms", 1e3) == "time_us");
    CHECK(likelier_unit("time_ms", 1e6) == "time_ns");
}

TEST_CASE("predictions may be wrong without the unit being so") {
    for (const char* column : {"time_us", "time_ms", "time_s", "time_ns"}) {
        CAPTURE(column);
        for (const double ratio : {0.05, 0.3, 1.0, 3.0, 20.0}) CHECK(likelier_unit(column, ratio).empty());
    }
    CHECK(likelier_unit("time", 1e-3).empty());
    CHECK(likelier_unit("time_us", 0.0).empty());
}

TEST_CASE("names of columns give seconds") {
    CHECK(seconds_in("time_us") == 1e-6);
    CHECK(seconds_in("time_ms") == 1e-3);
    CHECK_FALSE(seconds_in("time"));
}
