// Numbers of 16 and 8 bits: fp16 and bf16 to fp32 and back, rounded to nearest, ties to even; fp8 to fp32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

/// One of two numbers by masks: a branch would keep compilers from making vectors of a loop.
template <class T>
[[nodiscard]] constexpr T chosen(bool condition, T yes, T no) {
    const T mask = T{0} - static_cast<T>(condition);
    return static_cast<T>((yes & mask) | (no & ~mask));
}

[[nodiscard]] inline float real_of_half(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t{bits} >> 15U << 31U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    const std::uint32_t small = std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24F);
    const std::uint32_t wide = chosen(exponent == 31, 255U, exponent + 112U);
    return std::bit_cast<float>(sign | chosen(exponent == 0, small, (wide << 23U) | (fraction << 13U)));
}
[[nodiscard]] inline std::uint16_t half_of_real(double value) {
    constexpr std::uint64_t fraction_bits = 52, smallest = 1009, infinite = 1039;  // Exponents, biased.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63U);
    const std::uint64_t own = magnitude >> fraction_bits;
    const std::uint64_t exponent = own < smallest ? smallest : own > infinite ? infinite : own;
    // The sum with 3/2 2^42 of the number's power of two has the place of a half's last bit as its own.
    const std::uint64_t grid = ((exponent + 42U) << fraction_bits) | (std::uint64_t{1} << 51U);
    const double sum = std::bit_cast<double>(magnitude) + std::bit_cast<double>(grid);
    const std::uint64_t last_places = std::bit_cast<std::uint64_t>(sum) - grid;
    const std::uint64_t finite = last_places + ((exponent - smallest) << 10U);
    const std::uint64_t result = chosen<std::uint64_t>(own >= infinite, 0x7c00U, finite);
    return static_cast<std::uint16_t>(
        chosen<std::uint64_t>(value != value, 0x7fffU, result | (bits >> 63U << 15U)));
}
[[nodiscard]] inline float real_of_brain(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}
[[nodiscard]] inline std::uint16_t brain_of_real(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    return static_cast<std::uint16_t>(chosen(value != value, 0x7fffU, rounded));
}

/// The same of an fp64, rounded once: an fp32 that is not exact ends in a one, so that it is no tie.
[[nodiscard]] inline std::uint16_t brain_of_double(double value) {
    const auto near = static_cast<float>(value);
    const auto wide = static_cast<double>(near);
    if (wide == value || wide - wide != 0.0) {
        return brain_of_real(near);
    }
    const bool beyond = (wide > value) == (value > 0.0);
    return brain_of_real(
        std::bit_cast<float>((std::bit_cast<std::uint32_t>(near) - (beyond ? 1U : 0U)) | 1U));
}

/// E4M3 of OCP OFP8 (revision 1.0, table 1): no infinities, all ones but the sign is NaN.
[[nodiscard]] inline float real_of_e4m3(std::uint8_t bits) {
    const std::uint32_t exponent = (bits >> 3U) & 15U;
    const std::uint32_t fraction = bits & 7U;
    const std::uint32_t sign = std::uint32_t{bits} >> 7U << 31U;
    float value = exponent == 0 ? static_cast<float>(fraction) * 0x1p-9F
                                : std::bit_cast<float>(((exponent + 120U) << 23U) | (fraction << 20U));
    if ((bits & 0x7fU) == 0x7fU) {
        value = std::bit_cast<float>(0x7fc00000U);
    }
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}
/// The code of a format with so many bits of fraction whose least normal number is 2^least, nearest to the
/// value, ties to the even one, kept within the greatest finite code.
[[nodiscard]] inline std::uint32_t small_code(float value, int fraction_bits, int least,
                                              std::uint32_t greatest) {
    const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 31U << 7U;
    // No format of a byte reaches 2^20.
    const double magnitude = std::min(std::fabs(static_cast<double>(value)), 0x1p20);
    // Codes count up with the magnitude: first the steps of the denormal numbers, then those of each power of
    // two.
    const int exponent = magnitude == 0.0 ? least : std::max(least, std::ilogb(magnitude));
    const double steps = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
    const double code = std::ldexp(static_cast<double>(exponent - least), fraction_bits) + steps;
    return sign | (code >= static_cast<double>(greatest) ? greatest : static_cast<std::uint32_t>(code));
}
/// To the nearest finite code, as `cvt` with .satfinite does; the sign of what is no number is lost.
[[nodiscard]] inline std::uint32_t e4m3_of_real(float value) {
    return value != value ? 0x7fU : small_code(value, 3, -6, 0x7eU);
}
[[nodiscard]] inline std::uint32_t e5m2_of_real(float value) {
    return value != value ? 0x7fU : small_code(value, 2, -14, 0x7bU);
}
/// E5M2: the upper byte of an fp16.
[[nodiscard]] inline float real_of_e5m2(std::uint8_t bits) {
    return real_of_half(static_cast<std::uint16_t>(bits << 8U));
}

}  // namespace warptime::workloads::frontends::machine
