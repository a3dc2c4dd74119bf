// Overlap of times against its closed forms: one value, equal values, the limits of the exponent.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/overlap.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using warptime::model::steady::overlapped;

namespace {

double of(const std::vector<double>& values, double exponent) {
    return overlapped(std::span<const double>(values), exponent);
}

/// Times within a factor of three, so that no time is left out as negligible.
std::vector<double> near_values() {
    const auto whole = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(100, 300)));
    std::vector<double> values;
    for (const int v : whole) {
        values.push_back(0.01 * v);
    }
    return values;
}

}  // namespace

TEST_CASE("one time stays, none is zero, equal ones grow by n^(1/p)") {
    CHECK(of({}, 4.0) == 0.0);
    CHECK(of({0.0, 0.0}, 4.0) == 0.0);
    CHECK(of({7.0}, 3.3) == 7.0);
    CHECK(of({0.0, 7.0, 0.0}, 3.3) == 7.0);
    for (const double p : {1.0, 2.0, 4.0, 9.5}) {
        CHECK(of({3.0, 3.0}, p) == doctest::Approx(3.0 * std::pow(2.0, 1.0 / p)));
        CHECK(of({3.0, 3.0, 3.0, 3.0, 3.0}, p) == doctest::Approx(3.0 * std::pow(5.0, 1.0 / p)));
    }
}

TEST_CASE("the exponent goes from the sum to the largest") {
    CHECK(rc::check("between the two for every exponent", [] {
        const std::vector<double> values = near_values();
        const double largest = *std::max_element(values.begin(), values.end());
        const double sum = std::accumulate(values.begin(), values.end(), 0.0);
        RC_ASSERT(std::abs(of(values, 1.0) - sum) < 1e-9 * sum);
        const double mid = of(values, 4.0);
        RC_ASSERT(mid >= largest * (1.0 - 1e-12));
        RC_ASSERT(mid <= sum * (1.0 + 1e-12));
        RC_ASSERT(of(values, 8.0) <= mid * (1.0 + 1e-12));
        const double sharp = of(values, 200.0);
        RC_ASSERT(sharp <=
                  largest * std::pow(static_cast<double>(values.size()), 1.0 / 200.0) * (1.0 + 1e-12));
    }));
}

TEST_CASE("it scales with its times and never falls when one of them grows") {
    CHECK(rc::check("homogeneous and monotone", [] {
        std::vector<double> values = near_values();
        const double before = of(values, 4.0);
        std::vector<double> twice = values;
        for (double& v : twice) {
            v *= 2.0;
        }
        RC_ASSERT(std::abs(of(twice, 4.0) - 2.0 * before) < 1e-12 * before);
        // Negligible values may drop out when the largest grows; each changes the result by less than
        // (1/4)^4.
        const std::size_t at = *rc::gen::inRange<std::size_t>(0, values.size());
        values[at] *= 1.0 + 0.01 * *rc::gen::inRange(0, 100);
        const double slack = 1.0 + static_cast<double>(values.size()) * std::pow(0.25, 4.0);
        RC_ASSERT(of(values, 4.0) * slack >= before);
    }));
}

TEST_CASE("what is left out is below (1/4)^p of the largest") {
    const double all = std::pow(1.0 + std::pow(0.2, 4.0), 0.25);
    CHECK(of({1.0, 0.2}, 4.0) == 1.0);
    CHECK(all - of({1.0, 0.2}, 4.0) < std::pow(0.25, 4.0));
    CHECK(of({1.0, 0.3}, 4.0) == doctest::Approx(std::pow(1.0 + std::pow(0.3, 4.0), 0.25)));
}

TEST_CASE("the share of a time is what the whole loses when that time shrinks a little") {
    CHECK(rc::check("finite differences", [] {
        auto values = near_values();
        const double exponent = *rc::gen::element(1.5, 3.0, 4.0);
        const double whole = of(values, exponent);
        const double share = warptime::model::steady::share_of_overlapped(values[0], whole, exponent);
        RC_PRE(share > 0.0);
        constexpr double little = 1e-5;
        values[0] *= 1.0 - little;
        RC_ASSERT(std::abs((1.0 - of(values, exponent) / whole) / little - share) < 1e-3);
    }));
    // Shares of all times add up to the whole.
    const double whole = of({3.0, 4.0}, 2.0);
    CHECK(warptime::model::steady::share_of_overlapped(3.0, whole, 2.0) == doctest::Approx(9.0 / 25.0));
    CHECK(warptime::model::steady::share_of_overlapped(4.0, whole, 2.0) == doctest::Approx(16.0 / 25.0));
    CHECK(warptime::model::steady::share_of_overlapped(1.0, whole, 2.0) == 0.0);
}

TEST_CASE("what overlaps with a part to the whole") {
    using warptime::model::steady::beyond_overlapped;
    CHECK(beyond_overlapped(5.0, 3.0, 2.0) == doctest::Approx(4.0));
    CHECK(beyond_overlapped(5.0, 5.0, 2.0) == 0.0);
    CHECK(beyond_overlapped(5.0, 0.0, 3.0) == doctest::Approx(5.0));
    CHECK(rc::check([] {
        const double whole = *rc::gen::inRange(1, 1000);
        const double part = whole * *rc::gen::inRange(30, 100) / 100.0;
        const double rest = beyond_overlapped(whole, part, 3.0);
        if (rest > 0.25 * part) RC_ASSERT(std::abs(of({part, rest}, 3.0) / whole - 1.0) < 1e-9);
        RC_ASSERT(rest <= whole);
    }));
}
