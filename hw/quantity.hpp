// Physical quantities with their dimension in the type, so that bytes, cycles and seconds cannot be mixed.
// Ignores: prefixes (a quantity is always in base units: B, cycle, s, op, W; text units live in unit.hpp).
// Only a division by a clock (cycle/s) turns cycles into seconds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

namespace warptime::hw {

/// Microseconds and nanoseconds a second: times are in seconds inside, in microseconds where people read
/// them, and in nanoseconds where code asks for sleep.
inline constexpr double us_per_s = 1e6;
inline constexpr double ns_per_s = 1e9;

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

template <Dimension D>
class Quantity {
  public:
    static constexpr Dimension dimension = D;

    constexpr Quantity() = default;
    constexpr explicit Quantity(double value) : value_(value) {}

    /// Bare number in base units.
    [[nodiscard]] constexpr double value() const { return value_; }

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
    friend constexpr Quantity operator*(const Quantity& a, double s) { return Quantity(a.value_ * s); }
    friend constexpr Quantity operator*(double s, const Quantity& a) { return Quantity(s * a.value_); }
    friend constexpr Quantity operator/(const Quantity& a, double s) { return Quantity(a.value_ / s); }
    friend constexpr bool operator==(const Quantity& a, const Quantity& b) { return a.value_ == b.value_; }
    friend constexpr bool operator<(const Quantity& a, const Quantity& b) { return a.value_ < b.value_; }
    friend constexpr bool operator>(const Quantity& a, const Quantity& b) { return b.value_ < a.value_; }
    friend constexpr bool operator<=(const Quantity& a, const Quantity& b) { return !(b.value_ < a.value_); }
    friend constexpr bool operator>=(const Quantity& a, const Quantity& b) { return !(a.value_ < b.value_); }

  private:
    double value_ = 0.0;
};

template <Dimension A, Dimension B>
constexpr Quantity<A + B> operator*(const Quantity<A>& a, const Quantity<B>& b) {
    return Quantity<A + B>(a.value() * b.value());
}
template <Dimension A, Dimension B>
constexpr Quantity<A - B> operator/(const Quantity<A>& a, const Quantity<B>& b) {
    return Quantity<A - B>(a.value() / b.value());
}

using Number = Quantity<Dimension{}>;
using Bytes = Quantity<Dimension{.byte = 1}>;
using Cycles = Quantity<Dimension{.cycle = 1}>;
using Seconds = Quantity<Dimension{.second = 1}>;
using Frequency = Quantity<Dimension{.cycle = 1, .second = -1}>;
using BytesPerCycle = Quantity<Dimension{.byte = 1, .cycle = -1}>;
using BytesPerSecond = Quantity<Dimension{.byte = 1, .second = -1}>;
using OperationsPerCycle = Quantity<Dimension{.cycle = -1, .operation = 1}>;
using OperationsPerSecond = Quantity<Dimension{.second = -1, .operation = 1}>;
using PerCycle = Quantity<Dimension{.cycle = -1}>;
using Watts = Quantity<Dimension{.watt = 1}>;

}  // namespace warptime::hw
