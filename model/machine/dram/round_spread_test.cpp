// Delay of the last of many warps, against samples.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/round_spread.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace machine = warptime::model::machine;
namespace hw = warptime::hw;

TEST_CASE("the largest of normal variables is what samples say") {
    CHECK(machine::largest_of_normal(1.0) == 0.0);
    CHECK(machine::largest_of_normal(1056.0) == doctest::Approx(3.26).epsilon(0.02));
    std::mt19937_64 source(7);
    std::normal_distribution<double> normal;
    for (const auto& [count, within] : {std::pair{10, 0.09}, {100, 0.04}, {1000, 0.02}}) {
        double sum = 0.0;
        constexpr int turns = 2000;
        for (int turn = 0; turn < turns; ++turn) {
            double most = normal(source);
            for (int i = 1; i < count; ++i) most = std::max(most, normal(source));
            sum += most;
        }
        CHECK(machine::largest_of_normal(count) == doctest::Approx(sum / turns).epsilon(within));
    }
}

TEST_CASE("independent rounds add their variances, and one warp is no later than itself") {
    const hw::Cycles spread(100.0);
    const double four = machine::last_of_warps(4.0, 1056.0, spread).value();
    CHECK(machine::last_of_warps(16.0, 1056.0, spread).value() == doctest::Approx(2.0 * four));
    CHECK(machine::last_of_warps(4.0, 8448.0, spread).value() > four);
    CHECK(machine::last_of_warps(4.0, 1.0, spread).value() == 0.0);
    CHECK(machine::last_of_warps(0.0, 1056.0, spread).value() == 0.0);
}
