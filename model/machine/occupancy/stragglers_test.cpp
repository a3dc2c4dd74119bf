// How long the last CTA runs on, against CTAs drawn at random and in limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/stragglers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace warptime::model::machine {
namespace {

TEST_CASE("CTAs that begin evenly, with exponential times beyond the mean: the last one's mean end") {
    std::mt19937_64 random(7);
    const double mu = 3.0;
    constexpr int count = 2000;
    for (const double run : {30.0, 300.0}) {
        double sum = 0.0;
        constexpr int draws = 2000;
        std::uniform_real_distribution<double> start(-run, 0.0);
        std::exponential_distribution<double> longer(1.0 / mu);
        for (int draw = 0; draw < draws; ++draw) {
            double last = 0.0;
            for (int cta = 0; cta < count; ++cta) last = std::max(last, start(random) + longer(random));
            sum += last;
        }
        const double beyond = mu * (std::log(count) + std::numbers::egamma);
        CHECK(behind_the_last(beyond, count, run) == doctest::Approx(sum / draws).epsilon(0.02));
    }
}

TEST_CASE("a longest CTA that is the mean one leaves nothing behind; in no time all of it is left") {
    CHECK(behind_the_last(0.0, 1000.0, 50.0) == 0.0);
    CHECK(behind_the_last(10.0, 1000.0, 0.0) == 0.0);
    CHECK(behind_the_last(10.0, 1000.0, 1e-6) == doctest::Approx(10.0));
}

TEST_CASE("never more than the longest CTA, less in a longer run") {
    rc::check([] {
        const double beyond = *rc::gen::inRange(1, 1000);
        const double count = *rc::gen::inRange(2, 100000);
        const double run = *rc::gen::inRange(1, 100000);
        const double behind = behind_the_last(beyond, count, run);
        RC_ASSERT(behind >= 0.0);
        RC_ASSERT(behind <= beyond);
        RC_ASSERT(behind_the_last(beyond, count, 2.0 * run) <= behind);
    });
}

}  // namespace
}  // namespace warptime::model::machine
