// Numbers of 16 and 8 bits: fp16 and bf16 to fp32 and back, rounded to nearest, ties to even; fp8 to fp32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

[[nodiscard]] inline float real_of_half(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t{bits} >> 15U << 31U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 0) {
        const float value = static_cast<float>(fraction) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
    }
    const std::uint32_t wide = exponent == 31 ? 255U : exponent + 112U;
    return std::bit_cast<float>(sign | (wide << 23U) | (fraction << 13U));
}
[[nodiscard]] inline std::uint16_t half_of_real(double value) {
    if (value != value) {
        return 0x7fff;
    }
    const auto rounded = static_cast<_Float16>(value);
    return std::bit_cast<std::uint16_t>(rounded);
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
