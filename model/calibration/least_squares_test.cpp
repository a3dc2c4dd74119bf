// Damped least squares against closed forms: exact recovery, the textbook line, bounds, robustness, errors.
// SPDX-License-Identifier: Apache-2.0
#include "model/calibration/least_squares.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace calibration = warptime::model::calibration;
using calibration::Parameter;

namespace {

/// Residuals y - f(x; parameters) of a formula at given points.
template <class Formula>
calibration::Residuals against(const std::vector<double>& x, const std::vector<double>& y, Formula formula) {
    return [&x, &y, formula](std::span<const double> p, std::span<double> out) {
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = formula(x[i], p) - y[i];
    };
}

double line(double x, std::span<const double> p) {
    return p[0] + p[1] * x;
}

/// Fixed sequence in (-1, 1): noise that is equal on every platform.
double noise(std::uint32_t& state) {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state) / 2147483648.0 - 1.0;
}

}  // namespace

TEST_CASE("a line through noisy points has the textbook estimate, covariance and interval") {
    const std::vector<double> x{0, 1, 2, 3, 4, 5};
    const std::vector<double> y{1.1, 2.9, 5.2, 6.8, 9.1, 10.9};
    const std::vector<Parameter> start{{"a", 0.5}, {"b", 0.5}};
    const auto fit = calibration::fit(start, x.size(), against(x, y, line));

    // Ordinary least squares by its closed form.
    const double n = 6, sx = 15, sxx = 55, sy = 36, sxy = 0 + 2.9 + 10.4 + 20.4 + 36.4 + 54.5;
    const double determinant = n * sxx - sx * sx;
    const double b = (n * sxy - sx * sy) / determinant;
    const double a = (sy - b * sx) / n;
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(y[i] - a - b * x[i], 2);
    const double variance = squares / (n - 2);
    CHECK(fit.converged);
    CHECK(fit.parameters[0].value == doctest::Approx(a).epsilon(1e-8));
    CHECK(fit.parameters[1].value == doctest::Approx(b).epsilon(1e-8));
    CHECK(fit.loss == doctest::Approx(squares / 2).epsilon(1e-9));
    CHECK(fit.covariance[0] == doctest::Approx(variance * sxx / determinant).epsilon(1e-6));
    CHECK(fit.covariance[1] == doctest::Approx(-variance * sx / determinant).epsilon(1e-6));
    CHECK(fit.covariance[3] == doctest::Approx(variance * n / determinant).epsilon(1e-6));
    // Student's t with 4 degrees of freedom, 97.5 %: 2.776 (tables).
    CHECK(fit.parameters[1].half_width ==
          doctest::Approx(2.776445 * std::sqrt(variance * n / determinant)).epsilon(1e-5));
}

TEST_CASE("any line is recovered from its points") {
    CHECK(rc::check("line", [] {
        const double a = *rc::gen::inRange(-1000, 1000) / 7.0;
        const double b = *rc::gen::inRange(-1000, 1000) / 7.0;
        std::vector<double> x;
        std::vector<double> y;
        for (int i = 0; i < 5; ++i) {
            x.push_back(i);
            y.push_back(a + b * i);
        }
        const std::vector<Parameter> start{{"a", 1.0}, {"b", 1.0}};
        const auto fit = calibration::fit(start, x.size(), against(x, y, line));
        RC_ASSERT(std::abs(fit.parameters[0].value - a) < 1e-6 * (1 + std::abs(a)));
        RC_ASSERT(std::abs(fit.parameters[1].value - b) < 1e-6 * (1 + std::abs(b)));
    }));
}

TEST_CASE("an exponential is recovered from a far start") {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < 20; ++i) {
        x.push_back(0.1 * i);
        y.push_back(3.0 * std::exp(-1.7 * x.back()) + 0.25);
    }
    const auto formula = [](double at, std::span<const double> p) {
        return p[0] * std::exp(-p[1] * at) + p[2];
    };
    const std::vector<Parameter> start{{"scale", 1.0}, {"rate", 0.3}, {"floor", 0.0, -1.0, 1.0}};
    const auto fit = calibration::fit(start, x.size(), against(x, y, formula));
    CHECK(fit.parameters[0].value == doctest::Approx(3.0).epsilon(1e-7));
    CHECK(fit.parameters[1].value == doctest::Approx(1.7).epsilon(1e-7));
    CHECK(fit.parameters[2].value == doctest::Approx(0.25).epsilon(1e-7));
}

TEST_CASE("a two-constant roofline with noise and outliers is recovered within its interval") {
    // t = max(flops / P, bytes / B), P = 600e12, B = 4e12, ln-residuals, 2 % noise. One row in 20 is five
    // times too slow; the robust loss must not follow these rows.
    std::vector<double> flops;
    std::vector<double> bytes;
    std::vector<double> seconds;
    std::uint32_t state = 7;
    for (int i = 0; i < 200; ++i) {
        flops.push_back(1e9 * std::pow(10.0, 0.02 * i));
        bytes.push_back(1e7 * std::pow(10.0, 0.01 * ((i * 37) % 200)));
        const double exact = std::max(flops.back() / 600e12, bytes.back() / 4e12);
        seconds.push_back(exact * std::exp(0.02 * noise(state)) * (i % 20 == 3 ? 5.0 : 1.0));
    }
    const calibration::Residuals residuals = [&](std::span<const double> p, std::span<double> out) {
        for (std::size_t i = 0; i < flops.size(); ++i) {
            out[i] = std::log(std::max(flops[i] / p[0], bytes[i] / p[1]) / seconds[i]);
        }
    };
    const std::vector<Parameter> start{{"P", 200e12, 1e12, 1e16}, {"B", 1e12, 1e10, 1e14}};
    calibration::FitOptions robust;
    robust.huber_delta = 0.03;
    const auto fit = calibration::fit(start, flops.size(), residuals, robust);
    CHECK(fit.parameters[0].value == doctest::Approx(600e12).epsilon(0.01));
    CHECK(fit.parameters[1].value == doctest::Approx(4e12).epsilon(0.01));
    CHECK(std::abs(fit.parameters[0].value - 600e12) < 3 * fit.parameters[0].half_width);
    CHECK(fit.parameters[0].half_width < 0.02 * 600e12);

    const auto plain = calibration::fit(start, flops.size(), residuals);
    CHECK(std::abs(plain.parameters[0].value / 600e12 - 1) > 0.03);
}

TEST_CASE("bounds hold, and a parameter on its bound has no interval") {
    const std::vector<double> x{0, 1, 2, 3};
    const std::vector<double> y{0, 2, 4, 6.5};
    const std::vector<Parameter> start{{"a", 0.0, -1.0, 1.0}, {"b", 0.5, 0.0, 1.5}};
    const auto residuals = against(x, y, line);
    bool left_box = false;
    const auto fit = calibration::fit(start, x.size(), [&](std::span<const double> p, std::span<double> out) {
        left_box = left_box || p[0] < -1.0 || p[0] > 1.0 || p[1] < 0.0 || p[1] > 1.5;
        residuals(p, out);
    });
    CHECK_FALSE(left_box);
    CHECK(fit.parameters[1].value == 1.5);
    CHECK(fit.parameters[1].at_bound);
    CHECK(std::isinf(fit.parameters[1].half_width));
    // With b = 1.5 the best a is the mean of y - 1.5 x.
    CHECK(fit.parameters[0].value == doctest::Approx(12.5 / 4 - 1.5 * 1.5).epsilon(1e-6));
    CHECK(std::isfinite(fit.parameters[0].half_width));
}

TEST_CASE("a parameter without effect stays at its start and is reported as undetermined") {
    const std::vector<double> x{0, 1, 2, 3};
    const std::vector<double> y{1, 3, 5, 7.2};
    const std::vector<Parameter> start{{"a", 0.5}, {"b", 0.5}, {"idle", 42.0, 0.0, 100.0}};
    const auto fit = calibration::fit(start, x.size(), against(x, y, line));
    CHECK(fit.parameters[2].value == 42.0);
    CHECK(std::isinf(fit.parameters[2].half_width));
    CHECK(std::isfinite(fit.parameters[0].half_width));
}

TEST_CASE("Huber's loss joins its two branches smoothly") {
    CHECK(calibration::huber_loss(-2.0, 5.0) == 2.0);
    CHECK(calibration::huber_loss(5.0, 5.0) == 12.5);
    CHECK(calibration::huber_loss(7.0, 5.0) == doctest::Approx(5.0 * (7.0 - 2.5)));
    const double h = 1e-6;
    const double slope =
        (calibration::huber_loss(5.0 + h, 5.0) - calibration::huber_loss(5.0 - h, 5.0)) / (2 * h);
    CHECK(slope == doctest::Approx(5.0));
}

TEST_CASE("bad input is refused with the parameter's name") {
    const calibration::Residuals zero = [](std::span<const double>, std::span<double> out) {
        for (double& r : out) r = 0.0;
    };
    const std::vector<Parameter> inverted{{"a", 0.0, 1.0, -1.0}};
    const std::vector<Parameter> outside{{"a", 2.0, 0.0, 1.0}};
    const std::vector<Parameter> good{{"a", 0.5, 0.0, 1.0}};
    CHECK_THROWS_AS(static_cast<void>(calibration::fit(inverted, 1, zero)), warptime::Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(calibration::fit(outside, 1, zero)),
                         "fit a: got '2', expected a start within [0, 1]", warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(calibration::fit(good, 0, zero)), warptime::Error);
    const calibration::Residuals broken = [](std::span<const double>, std::span<double> out) {
        for (double& r : out) r = std::nan("");
    };
    CHECK_THROWS_AS(static_cast<void>(calibration::fit(good, 1, broken)), warptime::Error);
}
