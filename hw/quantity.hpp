// Physical quantities with their dimension in the type, so that bytes, cycles and seconds cannot be mixed.
// Ignores: prefixes (a quantity is always in base units: B, cycle, s, op, W; text units live in unit.hpp).
// The only way from cycles to seconds is a division by a clock (cycle/s). The scalar is a template parameter
// so that dual numbers carry derivatives through every formula.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

namespace warptime::hw {

/// Exponents of bytes, cycles, seconds, operations (FLOP or integer operation) and watts.
struct Dimension {
    int byte = 0;
    int cycle = 0;
    int second = 0;
    int operation = 0;
    int watt = 0;

    friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
    friend constexpr Dimension operator+(Dimension a, Dimension b) {
        return {a.byte + b.byte, a.cycle + b.cycle, a.second + b.second, a.operation + b.operation,
                a.watt + b.watt};
    }
    friend constexpr Dimension operator-(Dimension a, Dimension b) {
        return {a.byte - b.byte, a.cycle - b.cycle, a.second - b.second, a.operation - b.operation,
                a.watt - b.watt};
    }
};

template <class Scalar, Dimension D>
class Quantity {
  public:
    using scalar_type = Scalar;
    static constexpr Dimension dimension = D;

    constexpr Quantity() = default;
    constexpr explicit Quantity(Scalar value) : value_(value) {}

    /// The bare number in base units.
    [[nodiscard]] constexpr const Scalar& value() const { return value_; }

    constexpr Quantity& operator+=(const Quantity& other) {
        value_ = value_ + other.value_;
        return *this;
    }
    friend constexpr Quantity operator+(const Quantity& a, const Quantity& b) {
        return Quantity(a.value_ + b.value_);
    }
    friend constexpr Quantity operator-(const Quantity& a, const Quantity& b) {
        return Quantity(a.value_ - b.value_);
    }
    friend constexpr Quantity operator*(const Quantity& a, const Scalar& s) { return Quantity(a.value_ * s); }
    friend constexpr Quantity operator*(const Scalar& s, const Quantity& a) { return Quantity(s * a.value_); }
    friend constexpr Quantity operator/(const Quantity& a, const Scalar& s) { return Quantity(a.value_ / s); }
    friend constexpr bool operator==(const Quantity& a, const Quantity& b) { return a.value_ == b.value_; }
    friend constexpr bool operator<(const Quantity& a, const Quantity& b) { return a.value_ < b.value_; }
    friend constexpr bool operator>(const Quantity& a, const Quantity& b) { return b.value_ < a.value_; }
    friend constexpr bool operator<=(const Quantity& a, const Quantity& b) { return !(b.value_ < a.value_); }
    friend constexpr bool operator>=(const Quantity& a, const Quantity& b) { return !(a.value_ < b.value_); }

  private:
    Scalar value_{};
};

template <class S, Dimension A, Dimension B>
constexpr Quantity<S, A + B> operator*(const Quantity<S, A>& a, const Quantity<S, B>& b) {
    return Quantity<S, A + B>(a.value() * b.value());
}
template <class S, Dimension A, Dimension B>
constexpr Quantity<S, A - B> operator/(const Quantity<S, A>& a, const Quantity<S, B>& b) {
    return Quantity<S, A - B>(a.value() / b.value());
}

template <class S>
using Number = Quantity<S, Dimension{}>;
template <class S>
using Bytes = Quantity<S, Dimension{.byte = 1}>;
template <class S>
using Cycles = Quantity<S, Dimension{.cycle = 1}>;
template <class S>
using Seconds = Quantity<S, Dimension{.second = 1}>;
template <class S>
using Frequency = Quantity<S, Dimension{.cycle = 1, .second = -1}>;
template <class S>
using BytesPerCycle = Quantity<S, Dimension{.byte = 1, .cycle = -1}>;
template <class S>
using BytesPerSecond = Quantity<S, Dimension{.byte = 1, .second = -1}>;
template <class S>
using OperationsPerCycle = Quantity<S, Dimension{.cycle = -1, .operation = 1}>;
template <class S>
using OperationsPerSecond = Quantity<S, Dimension{.second = -1, .operation = 1}>;
template <class S>
using PerCycle = Quantity<S, Dimension{.cycle = -1}>;
template <class S>
using Watts = Quantity<S, Dimension{.watt = 1}>;

}  // namespace warptime::hw
