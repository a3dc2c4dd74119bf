// The mathematical functions that templated formulas call, for double and for dual numbers alike.
// Call them qualified (hw::pow, hw::max); the overloads for dual numbers are in dual.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dual.hpp"
#include "hw/quantity.hpp"

#include <cmath>
#include <cstddef>

namespace warptime::hw {

[[nodiscard]] inline double exp(double x) {
    return std::exp(x);
}
[[nodiscard]] inline double log(double x) {
    return std::log(x);
}
[[nodiscard]] inline double sqrt(double x) {
    return std::sqrt(x);
}
[[nodiscard]] inline double pow(double x, double y) {
    return std::pow(x, y);
}
[[nodiscard]] inline double abs(double x) {
    return std::fabs(x);
}
[[nodiscard]] inline double ceil(double x) {
    return std::ceil(x);
}
[[nodiscard]] inline double floor(double x) {
    return std::floor(x);
}
[[nodiscard]] constexpr double min(double a, double b) {
    return b < a ? b : a;
}
[[nodiscard]] constexpr double max(double a, double b) {
    return a < b ? b : a;
}

/// The plain number behind a scalar or a quantity, without derivatives.
[[nodiscard]] constexpr double value_of(double x) {
    return x;
}
template <std::size_t N>
[[nodiscard]] constexpr double value_of(const Dual<N>& x) {
    return x.value();
}
template <class S, Dimension D>
[[nodiscard]] constexpr double value_of(const Quantity<S, D>& x) {
    return value_of(x.value());
}

/// The smaller or larger of two quantities of one dimension.
template <class S, Dimension D>
[[nodiscard]] constexpr Quantity<S, D> min(const Quantity<S, D>& a, const Quantity<S, D>& b) {
    return b < a ? b : a;
}
template <class S, Dimension D>
[[nodiscard]] constexpr Quantity<S, D> max(const Quantity<S, D>& a, const Quantity<S, D>& b) {
    return a < b ? b : a;
}

}  // namespace warptime::hw
