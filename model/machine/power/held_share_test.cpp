// The held share of the clocks against power laws whose answer is known.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/power/held_share.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using warptime::model::machine::held_share;

namespace {
constexpr double near = 1e-3;
}  // namespace

TEST_CASE("work within the limit keeps its clocks, and is asked once") {
    int asked = 0;
    const auto watts = [&](double share) {
        ++asked;
        return 500.0 * share;
    };
    CHECK(held_share(watts, 500.0, near) == 1.0);
    CHECK(asked == 1);
}

TEST_CASE("the share solves power = limit for linear, square and cubic laws, above idle power or none") {
    for (const double idle : {0.0, 70.0, 300.0}) {
        for (const double exponent : {1.0, 2.0, 3.0}) {
            for (const double full : {705.0, 900.0, 1500.0, 4000.0}) {
                CAPTURE(idle);
                CAPTURE(exponent);
                CAPTURE(full);
                std::vector<double> asked;
                const auto watts = [&](double share) {
                    asked.push_back(share);
                    return idle + (full - idle) * std::pow(share, exponent);
                };
                const double share = held_share(watts, 700.0, near);
                const double exact = std::pow((700.0 - idle) / (full - idle), 1.0 / exponent);
                CHECK(watts(share) == doctest::Approx(700.0).epsilon(1.5e-3));
                CHECK(share == doctest::Approx(exact).epsilon(4e-3));
                asked.pop_back();
                CHECK(asked.back() == share);  // so that a caller may keep what the last question made
                CHECK(asked.size() <= 9);
            }
        }
    }
}

TEST_CASE("power that no clock brings within the limit leaves the lowest share") {
    CHECK(held_share([](double) { return 900.0; }, 700.0, near) ==
          doctest::Approx(warptime::model::machine::lowest_share).epsilon(0.01));
}
