// A dual number: a value and its derivatives by N chosen inputs, carried through every formula (forward
// mode). Ignores: second derivatives. At a tie, min and max take the derivative of their first argument.
// Source: Griewank and Walther, Evaluating Derivatives (2008), chapter 3.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace warptime::hw {

template <std::size_t N>
class Dual {
  public:
    constexpr Dual() = default;
    /// A constant: all derivatives are zero.
    constexpr Dual(double value)
        : value_(value) {}  // NOLINT(google-explicit-constructor): doubles are constants
    /// The input number `index`: its derivative by itself is 1.
    [[nodiscard]] static constexpr Dual variable(double value, std::size_t index) {
        Dual result(value);
        result.derivatives_[index] = 1.0;
        return result;
    }

    [[nodiscard]] constexpr double value() const { return value_; }
    [[nodiscard]] constexpr double derivative(std::size_t index) const { return derivatives_[index]; }

    /// f(x) by the chain rule, given f and f' at the value of x.
    [[nodiscard]] static constexpr Dual chain(const Dual& x, double f, double slope) {
        Dual result(f);
        for (std::size_t i = 0; i < N; ++i) {
            result.derivatives_[i] = slope * x.derivatives_[i];
        }
        return result;
    }
    /// f(x, y) by the chain rule, given f and its two partial derivatives.
    [[nodiscard]] static constexpr Dual chain(const Dual& x, const Dual& y, double f, double by_x,
                                              double by_y) {
        Dual result(f);
        for (std::size_t i = 0; i < N; ++i) {
            result.derivatives_[i] = by_x * x.derivatives_[i] + by_y * y.derivatives_[i];
        }
        return result;
    }
    [[nodiscard]] constexpr bool is_constant() const {
        for (const double d : derivatives_) {
            if (d != 0.0) {
                return false;
            }
        }
        return true;
    }

    friend constexpr Dual operator+(const Dual& a, const Dual& b) {
        return chain(a, b, a.value_ + b.value_, 1, 1);
    }
    friend constexpr Dual operator-(const Dual& a, const Dual& b) {
        return chain(a, b, a.value_ - b.value_, 1, -1);
    }
    friend constexpr Dual operator*(const Dual& a, const Dual& b) {
        return chain(a, b, a.value_ * b.value_, b.value_, a.value_);
    }
    friend constexpr Dual operator/(const Dual& a, const Dual& b) {
        const double quotient = a.value_ / b.value_;
        return chain(a, b, quotient, 1.0 / b.value_, -quotient / b.value_);
    }
    friend constexpr Dual operator-(const Dual& a) { return chain(a, -a.value_, -1.0); }
    friend constexpr Dual operator+(const Dual& a) { return a; }

    constexpr Dual& operator+=(const Dual& b) { return *this = *this + b; }
    constexpr Dual& operator-=(const Dual& b) { return *this = *this - b; }
    constexpr Dual& operator*=(const Dual& b) { return *this = *this * b; }
    constexpr Dual& operator/=(const Dual& b) { return *this = *this / b; }

    // Order is that of the values: branches of a formula are taken as with plain doubles.
    friend constexpr bool operator==(const Dual& a, const Dual& b) { return a.value_ == b.value_; }
    friend constexpr bool operator!=(const Dual& a, const Dual& b) { return a.value_ != b.value_; }
    friend constexpr bool operator<(const Dual& a, const Dual& b) { return a.value_ < b.value_; }
    friend constexpr bool operator>(const Dual& a, const Dual& b) { return a.value_ > b.value_; }
    friend constexpr bool operator<=(const Dual& a, const Dual& b) { return a.value_ <= b.value_; }
    friend constexpr bool operator>=(const Dual& a, const Dual& b) { return a.value_ >= b.value_; }

  private:
    double value_ = 0.0;
    std::array<double, N> derivatives_{};
};

template <std::size_t N>
[[nodiscard]] Dual<N> exp(const Dual<N>& x) {
    const double e = std::exp(x.value());
    return Dual<N>::chain(x, e, e);
}
template <std::size_t N>
[[nodiscard]] Dual<N> log(const Dual<N>& x) {
    return Dual<N>::chain(x, std::log(x.value()), 1.0 / x.value());
}
template <std::size_t N>
[[nodiscard]] Dual<N> sqrt(const Dual<N>& x) {
    const double root = std::sqrt(x.value());
    return Dual<N>::chain(x, root, 0.5 / root);
}
template <std::size_t N>
[[nodiscard]] Dual<N> abs(const Dual<N>& x) {
    return x.value() < 0.0 ? -x : x;
}
/// Steps have no useful slope: their derivative is zero.
template <std::size_t N>
[[nodiscard]] Dual<N> ceil(const Dual<N>& x) {
    return Dual<N>(std::ceil(x.value()));
}
template <std::size_t N>
[[nodiscard]] Dual<N> floor(const Dual<N>& x) {
    return Dual<N>(std::floor(x.value()));
}
/// With a constant exponent the base may be zero or negative; with a variable one it must be positive.
template <std::size_t N>
[[nodiscard]] Dual<N> pow(const Dual<N>& x, const Dual<N>& y) {
    const double power = std::pow(x.value(), y.value());
    const double by_x = x.is_constant() ? 0.0 : y.value() * std::pow(x.value(), y.value() - 1.0);
    const double by_y = y.is_constant() ? 0.0 : power * std::log(x.value());
    return Dual<N>::chain(x, y, power, by_x, by_y);
}
template <std::size_t N>
[[nodiscard]] Dual<N> pow(const Dual<N>& x, double y) {
    return pow(x, Dual<N>(y));
}
template <std::size_t N>
[[nodiscard]] Dual<N> pow(double x, const Dual<N>& y) {
    return pow(Dual<N>(x), y);
}
template <std::size_t N>
[[nodiscard]] constexpr Dual<N> min(const Dual<N>& a, const Dual<N>& b) {
    return b < a ? b : a;
}
template <std::size_t N>
[[nodiscard]] constexpr Dual<N> min(const Dual<N>& a, double b) {
    return min(a, Dual<N>(b));
}
template <std::size_t N>
[[nodiscard]] constexpr Dual<N> min(double a, const Dual<N>& b) {
    return min(Dual<N>(a), b);
}
template <std::size_t N>
[[nodiscard]] constexpr Dual<N> max(const Dual<N>& a, const Dual<N>& b) {
    return a < b ? b : a;
}
template <std::size_t N>
[[nodiscard]] constexpr Dual<N> max(const Dual<N>& a, double b) {
    return max(a, Dual<N>(b));
}
template <std::size_t N>
[[nodiscard]] constexpr Dual<N> max(double a, const Dual<N>& b) {
    return max(Dual<N>(a), b);
}

}  // namespace warptime::hw
