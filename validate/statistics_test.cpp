// The scoreboard's figures against closed forms and against properties that must hold for any sample.
// SPDX-License-Identifier: Apache-2.0
#include "validate/statistics.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace validate = warptime::validate;

TEST_CASE("quantiles are linear between order statistics") {
    const std::vector<double> values{40, 10, 30, 20};
    CHECK(validate::quantile(values, 0.0) == 10);
    CHECK(validate::quantile(values, 1.0) == 40);
    CHECK(validate::median(values) == 25);
    CHECK(validate::quantile(values, 0.9) == doctest::Approx(37));  // position 2.7
    CHECK(validate::quantile(values, 0.95) == doctest::Approx(38.5));
    CHECK(validate::median(std::vector<double>{7}) == 7);
    CHECK(std::isnan(validate::median(std::vector<double>{})));
    CHECK(validate::mean(values) == 25);
    CHECK(std::isnan(validate::mean(std::vector<double>{})));
}

TEST_CASE("quantiles of 0..n are n times the probability") {
    CHECK(rc::check("uniform grid", [] {
        const int n = *rc::gen::inRange(1, 200);
        const double p = *rc::gen::inRange(0, 1001) / 1000.0;
        std::vector<double> values;
        for (int i = n; i >= 0; --i) values.push_back(i);
        RC_ASSERT(std::abs(validate::quantile(values, p) - p * n) < 1e-9 * (n + 1));
    }));
}

TEST_CASE("relative error is of the measured value") {
    CHECK(validate::relative_error(12, 10) == doctest::Approx(0.2));
    CHECK(validate::relative_error(8, 10) == doctest::Approx(0.2));
    CHECK(validate::relative_error(0, 10) == 1.0);
}

TEST_CASE("ties share the mean rank") {
    CHECK(validate::ranks(std::vector<double>{5, 1, 5, 9, 5}) == std::vector<double>{3, 1, 3, 5, 3});
}

TEST_CASE("rank correlation: perfect, reversed, and a case worked out by hand") {
    const std::vector<double> a{1, 2, 3, 4, 5};
    CHECK(validate::rank_correlation(a, std::vector<double>{1, 8, 27, 64, 125}) == doctest::Approx(1.0));
    CHECK(validate::rank_correlation(a, std::vector<double>{5, 4, 3, 2, 1}) == doctest::Approx(-1.0));
    // Without ties: 1 - 6 sum d^2 / (n (n^2 - 1)), d = (-1, 1, -1, 1, 0).
    CHECK(validate::rank_correlation(a, std::vector<double>{20, 10, 40, 30, 50}) ==
          doctest::Approx(1 - 24.0 / 120));
    // With a tie: ranks (1, 2.5, 2.5, 4) against (1, 2, 3, 4): 4.5 / sqrt(4.5 x 5).
    CHECK(validate::rank_correlation(std::vector<double>{1, 2, 2, 3}, std::vector<double>{1, 2, 3, 4}) ==
          doctest::Approx(4.5 / std::sqrt(22.5)));
    CHECK(std::isnan(validate::rank_correlation(a, std::vector<double>{2, 2, 2, 2, 2})));
    CHECK(std::isnan(validate::rank_correlation(std::vector<double>{1}, std::vector<double>{1})));
}

TEST_CASE("rank correlation ignores any increasing change of scale") {
    CHECK(rc::check("monotone", [](const std::vector<int>& sample) {
        RC_PRE(sample.size() >= 3);
        std::vector<double> a(sample.begin(), sample.end());
        std::vector<double> scaled;
        for (const double value : a) scaled.push_back(std::atan(value * 1e-3));
        const double r = validate::rank_correlation(a, scaled);
        RC_ASSERT(std::isnan(r) || std::abs(r - 1.0) < 1e-12);
    }));
}

TEST_CASE("Wilson's interval") {
    // 8 of 10 at 95 %: (0.4902, 0.9433) (Newcombe 1998, method 3).
    const auto interval = validate::wilson_interval(8, 10);
    CHECK(interval.low == doctest::Approx(0.4902).epsilon(1e-3));
    CHECK(interval.high == doctest::Approx(0.9433).epsilon(1e-3));
    CHECK(validate::wilson_interval(0, 0).high == 1.0);
    CHECK(validate::wilson_interval(0, 10).low == 0.0);
}
