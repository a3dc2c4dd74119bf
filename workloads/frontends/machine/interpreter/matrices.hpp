// What matrix instructions share: the types of their elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/halves.hpp"

#include <cstddef>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

enum class MatrixElement : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8 };

[[nodiscard]] constexpr std::uint32_t bytes_of(MatrixElement element) {
    return element == MatrixElement::tf32                                    ? 4U
           : element == MatrixElement::f16 || element == MatrixElement::bf16 ? 2U
                                                                             : 1U;
}

/// Element `part` of a word that holds them side by side.
[[nodiscard]] inline float element_of(MatrixElement element, std::uint32_t word, std::uint32_t part) {
    const std::uint32_t shifted = word >> (part * 8U * (bytes_of(element) & 3U));
    switch (element) {
        case MatrixElement::f16:
            return real_of_half(static_cast<std::uint16_t>(shifted));
        case MatrixElement::bf16:
            return real_of_brain(static_cast<std::uint16_t>(shifted));
        case MatrixElement::tf32:
            // The lowest 13 bits of the fraction are not looked at.
            return std::bit_cast<float>(word & 0xffffe000U);
        case MatrixElement::e4m3:
            return real_of_e4m3(static_cast<std::uint8_t>(shifted));
        case MatrixElement::e5m2:
            return real_of_e5m2(static_cast<std::uint8_t>(shifted));
        case MatrixElement::s8:
            return static_cast<float>(static_cast<std::int8_t>(shifted));
        case MatrixElement::u8:
            return static_cast<float>(static_cast<std::uint8_t>(shifted));
    }
    return 0.0F;
}

}  // namespace warptime::workloads::frontends::machine
