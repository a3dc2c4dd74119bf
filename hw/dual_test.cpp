// Tests of dual numbers: derivatives known in closed form, and central differences as a second derivation.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dual.hpp"

#include "hw/math.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace warptime::hw {
namespace {

using D = Dual<2>;

TEST_CASE("closed forms at one point") {
    const D x = D::variable(2.0, 0);
    const D y = D::variable(3.0, 1);
    CHECK((x * y).derivative(0) == 3.0);
    CHECK((x * y).derivative(1) == 2.0);
    CHECK((x / y).derivative(0) == doctest::Approx(1.0 / 3.0));
    CHECK((x / y).derivative(1) == doctest::Approx(-2.0 / 9.0));
    CHECK((1.0 - x).derivative(0) == -1.0);
    CHECK((-x).derivative(0) == -1.0);
    CHECK((x + 1.0).value() == 3.0);
    CHECK(hw::exp(x).derivative(0) == doctest::Approx(std::exp(2.0)));
    CHECK(hw::log(x).derivative(0) == doctest::Approx(0.5));
    CHECK(hw::sqrt(x).derivative(0) == doctest::Approx(0.5 / std::sqrt(2.0)));
    CHECK(hw::pow(x, 3.0).derivative(0) == doctest::Approx(12.0));
    CHECK(hw::pow(2.0, y).derivative(1) == doctest::Approx(8.0 * std::log(2.0)));
    CHECK(hw::pow(x, y).derivative(0) == doctest::Approx(12.0));
    CHECK(hw::max(x, y).derivative(1) == 1.0);
    CHECK(hw::max(x, y).derivative(0) == 0.0);
    CHECK(hw::min(x, 1.0).is_constant());
    CHECK(hw::min(x, 5.0).derivative(0) == 1.0);
    CHECK(hw::abs(-x).derivative(0) == 1.0);
    CHECK(hw::ceil(x / y).value() == 1.0);
    CHECK(hw::ceil(x / y).is_constant());
    CHECK(hw::floor(y / x).value() == 1.0);
}

TEST_CASE("a constant exponent allows a base of zero") {
    const D x = D::variable(0.0, 0);
    CHECK(hw::pow(x, 2.0).derivative(0) == 0.0);
    CHECK(hw::pow(x, 1.0).derivative(0) == 1.0);
}

TEST_CASE("order is that of the values") {
    CHECK(D::variable(1.0, 0) < D(2.0));
    CHECK(D(2.0) > D(1.0));
    CHECK(D(2.0) >= D(2.0));
    CHECK(D(2.0) <= D(2.0));
    CHECK(D::variable(2.0, 0) == D(2.0));
    CHECK(D(1.0) != D(2.0));
}

/// A formula that uses every operation, over any scalar.
template <class S>
S formula(S x, S y) {
    S z = x * y + hw::pow(x / y, S(1.5)) - hw::log(x) * hw::exp(-y);
    z += hw::sqrt(x + y);
    z *= x;
    z /= y + 1.0;
    z -= hw::max(x, y) * hw::min(x, y) * 0.5;
    return z;
}

TEST_CASE("derivatives agree with central differences") {
    CHECK(rc::check("formula", [] {
        const double x = 0.5 + *rc::gen::inRange(0, 1000) / 250.0;
        const double y = 0.7013 + *rc::gen::inRange(0, 1000) / 250.0;
        const double h = 1e-5;
        const D z = formula(D::variable(x, 0), D::variable(y, 1));
        RC_ASSERT(z.value() == formula(x, y));
        const double by_x = (formula(x + h, y) - formula(x - h, y)) / (2 * h);
        const double by_y = (formula(x, y + h) - formula(x, y - h)) / (2 * h);
        RC_ASSERT(std::fabs(z.derivative(0) - by_x) < 1e-6 * (1 + std::fabs(by_x)));
        RC_ASSERT(std::fabs(z.derivative(1) - by_y) < 1e-6 * (1 + std::fabs(by_y)));
    }));
}

TEST_CASE("quantities over dual numbers") {
    const Bytes<D> bytes(D(8.0));
    const BytesPerSecond<D> rate(D::variable(2.0, 1));
    const Seconds<D> time = bytes / rate;
    CHECK(value_of(time) == 4.0);
    CHECK(time.value().derivative(1) == -2.0);
    CHECK(value_of(hw::max(time, Seconds<D>(D(5.0)))) == 5.0);
    CHECK(value_of(hw::min(Seconds<double>(1), Seconds<double>(2))) == 1.0);
    CHECK(value_of(3.0) == 3.0);
}

}  // namespace
}  // namespace warptime::hw
