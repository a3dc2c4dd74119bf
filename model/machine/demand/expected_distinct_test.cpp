// Distinct cells of random draws: limits in closed form, and a count of drawn cells.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/expected_distinct.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>

using warptime::model::machine::expected_distinct;

TEST_CASE("limits, and cells that were drawn and counted") {
    CHECK(expected_distinct(1.0, 1000.0) == doctest::Approx(1.0));
    CHECK(expected_distinct(32.0, 1e12) == doctest::Approx(32.0).epsilon(1e-9));
    CHECK(expected_distinct(1e6, 10.0) == doctest::Approx(10.0));
    CHECK(expected_distinct(1e5, 1e5) == doctest::Approx(1e5 * (1.0 - std::exp(-1.0))).epsilon(1e-4));
    CHECK(expected_distinct(5.0, 1.0) == 1.0);
    CHECK(expected_distinct(0.0, 10.0) == 0.0);
    std::mt19937 random(3);
    double sum = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::set<unsigned> cells;
        for (int draw = 0; draw < 32; ++draw) {
            cells.insert(static_cast<unsigned>(random() % 50U));
        }
        sum += static_cast<double>(cells.size());
    }
    CHECK(expected_distinct(32.0, 50.0) == doctest::Approx(sum / 20000.0).epsilon(0.005));
}
