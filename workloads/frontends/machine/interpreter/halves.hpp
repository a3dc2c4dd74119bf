// Numbers of 16 and 8 bits: fp16 and bf16 to fp32 and back, rounded to nearest, ties to even; fp8 to fp32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
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
    if (value != value) {
        return 0x7fff;
    }
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
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
/// E5M2: the upper byte of an fp16.
[[nodiscard]] inline float real_of_e5m2(std::uint8_t bits) {
    return real_of_half(static_cast<std::uint16_t>(bits << 8U));
}

}  // namespace warptime::workloads::frontends::machine
