// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/progress.hpp"

#include <doctest/doctest.h>

using warptime::cli::progress_text;

TEST_CASE("the estimate follows from the rows of this run alone") {
    // 1200 - 200 rows in 2.5 s are 400 rows/s; the other 4000 take 10 s.
    CHECK(progress_text(1200, 200, 5200, 3, 2.5) ==
          "1200 of 5200 rows (23 %), 400 rows/s, 10 s left, 3 failed");
    CHECK(progress_text(200, 200, 5200, 0, 0.0) == "200 of 5200 rows (4 %)");
    CHECK(progress_text(1, 0, 7201, 0, 1.0) == "1 of 7201 rows (0 %), 1.0 rows/s, 2.0 h left");
    CHECK(progress_text(10, 0, 610, 0, 10.0) == "10 of 610 rows (2 %), 1.0 rows/s, 10 min left");
    CHECK(progress_text(0, 0, 0, 0, 1.0) == "0 of 0 rows (0 %)");
}
