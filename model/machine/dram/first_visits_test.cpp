// First visits that come early, against sums over the course of a kernel and against their limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/first_visits.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using warptime::model::machine::FirstVisits;
using warptime::model::machine::with_first_visits;

namespace {

/// The same by small steps.
double by_steps(double dram, double others, const FirstVisits& first) {
    constexpr int steps = 100'000;
    const double early = dram * first.share;
    double sum = 0.0;
    for (int i = 0; i < steps; ++i) {
        const double from = std::exp(-first.visits * i / steps);
        const double to = std::exp(-first.visits * (i + 1) / steps);
        const double own = early * (from - to) / (1.0 - std::exp(-first.visits)) + (dram - early) / steps;
        sum += std::max(own, others / steps);
    }
    return sum;
}

}  // namespace

TEST_CASE("a memory that is busy early is added up over the course of the kernel") {
    for (const double dram : {1.0, 8.0, 12.0, 30.0}) {
        for (const double visits : {0.5, 2.0, 16.0, 200.0}) {
            for (const double share : {0.3, 1.0}) {
                CAPTURE(dram);
                CAPTURE(visits);
                CAPTURE(share);
                const FirstVisits first{share, visits};
                CHECK(with_first_visits(dram, 24.0, first) ==
                      doctest::Approx(by_steps(dram, 24.0, first)).epsilon(1e-3));
            }
        }
    }
}

TEST_CASE("first visits cost at least the larger time and at most both, and nothing where there are none") {
    CHECK(with_first_visits(3.0, 5.0, {0.0, 10.0}) == 5.0);
    CHECK(with_first_visits(3.0, 5.0, {1.0, 0.0}) == 5.0);
    CHECK(with_first_visits(0.0, 5.0, {1.0, 9.0}) == 5.0);
    // All come at once: nothing overlaps.
    CHECK(with_first_visits(3.0, 5.0, {1.0, 1e6}) == doctest::Approx(8.0).epsilon(1e-3));
    CHECK(rc::check([] {
        const double dram = *rc::gen::inRange(0, 1000);
        const double others = *rc::gen::inRange(0, 1000);
        const FirstVisits first{*rc::gen::inRange(0, 101) / 100.0, *rc::gen::inRange(0, 5000) / 10.0};
        const double time = with_first_visits(dram, others, first);
        RC_ASSERT(time >= std::max(dram, others) * (1.0 - 1e-12));
        RC_ASSERT(time <= (dram + others) * (1.0 + 1e-12));
    }));
}
