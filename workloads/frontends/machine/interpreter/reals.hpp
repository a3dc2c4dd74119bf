// What the handlers of real numbers share: flushing, saturation, rounding, and the NaN of the hardware.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

enum class Rounding : std::uint8_t { nearest, down, up, zero };

[[nodiscard]] inline Rounding rounding_of(const Decoder& decoder) {
    return decoder.has("RM") || decoder.has("FLOOR")   ? Rounding::down
           : decoder.has("RP") || decoder.has("CEIL")  ? Rounding::up
           : decoder.has("RZ") || decoder.has("TRUNC") ? Rounding::zero
                                                       : Rounding::nearest;
}

/// Every result that is no number is this one.
inline constexpr std::uint32_t real_nan = 0x7fffffffU;

[[nodiscard]] inline std::uint32_t bits_of_real(float value) {
    return value != value ? real_nan : std::bit_cast<std::uint32_t>(value);
}
[[nodiscard]] inline float flushed(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}
/// To [0, 1]; what is no number becomes 0.
[[nodiscard]] inline float saturated(float value) {
    return value > 0.0F ? (value < 1.0F ? value : 1.0F) : 0.0F;
}
[[nodiscard]] inline float flushed_if(bool flush, float value) {
    return flush ? flushed(value) : value;
}
[[nodiscard]] inline double lane_double(const Warp& warp, const Source& source, int lane) {
    return std::bit_cast<double>(lane_bits64(warp, source, lane));
}
[[nodiscard]] inline std::uint64_t bits_of_double(double value) {
    return value != value ? 0x7fffffffffffffffULL : std::bit_cast<std::uint64_t>(value);
}
/// To a whole number.
[[nodiscard]] inline double rounded(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::down:
            return std::floor(value);
        case Rounding::up:
            return std::ceil(value);
        case Rounding::zero:
            return std::trunc(value);
        case Rounding::nearest:
            break;
    }
    return std::nearbyint(value);
}

/// `sum + rest` as fp32, rounded in a direction, where `sum` is the fp64 nearest to it. The nearest fp32 is
/// that number or one of its two neighbours, hence at most one unit in the last place off.
[[nodiscard]] inline float directed(double sum, double rest, Rounding rounding) {
    const auto near = static_cast<float>(sum);
    const auto wide = static_cast<double>(near);
    const bool below = wide < sum || (wide == sum && rest > 0.0);
    const bool above = wide > sum || (wide == sum && rest < 0.0);
    const bool to_up = rounding == Rounding::up || (rounding == Rounding::zero && sum < 0.0);
    const bool to_down = rounding == Rounding::down || (rounding == Rounding::zero && sum > 0.0);
    const bool moves = (below && to_up) || (above && to_down);
    // Bits of reals count away from zero.
    const auto bits = std::bit_cast<std::uint32_t>(near);
    const bool grows = (bits >> 31U) == (below ? 0U : 1U);
    return std::bit_cast<float>(bits + (moves ? (grows ? 1U : all_lanes) : 0U));
}
/// What x + y loses when it is rounded to the nearest fp64 (Knuth).
[[nodiscard]] inline double lost_of_sum(double x, double y) {
    const double sum = x + y;
    const double of_y = sum - x;
    return (x - (sum - of_y)) + (y - of_y);
}

void decode_real_conversion(Decoder& decoder, Instruction& instruction);   ///< F2F
void decode_real_to_integer(Decoder& decoder, Instruction& instruction);   ///< F2I
void decode_integer_to_real(Decoder& decoder, Instruction& instruction);   ///< I2F, I2FP
void decode_round(Decoder& decoder, Instruction& instruction);             ///< FRND
void decode_pack(Decoder& decoder, Instruction& instruction);              ///< F2FP
void decode_special_function(Decoder& decoder, Instruction& instruction);  ///< MUFU
void decode_double(Decoder& decoder, Instruction& instruction);            ///< DADD, DMUL, DFMA
void decode_double_compare(Decoder& decoder, Instruction& instruction);    ///< DSETP
void decode_double_minimum(Decoder& decoder, Instruction& instruction);    ///< DMNMX

/// Comparisons of reals: ordered ones fail where an operand is no number, unordered ones (..U) hold.
enum class RealCompare : std::uint8_t { less = 1, equal = 2, greater = 4, unordered = 8 };
/// The comparison as a set of the relations that satisfy it.
[[nodiscard]] std::uint32_t relations_of(const Decoder& decoder);
template <class T>
[[nodiscard]] bool relation_holds(std::uint32_t relations, T a, T b) {
    const std::uint32_t relation = a < b ? 1U : a == b ? 2U : a > b ? 4U : 8U;
    return (relations & relation) != 0;
}
/// The lanes whose values value(0, lane) and value(1, lane) are in one of the relations.
template <class Value>
[[nodiscard]] Mask lanes_related(std::uint32_t relations, Value value) {
    const Mask less = mask_of([&value](int lane) { return value(0, lane) < value(1, lane); });
    const Mask equal = mask_of([&value](int lane) { return value(0, lane) == value(1, lane); });
    const Mask greater = mask_of([&value](int lane) { return value(0, lane) > value(1, lane); });
    return ((relations & 1U) != 0 ? less : 0U) | ((relations & 2U) != 0 ? equal : 0U) |
           ((relations & 4U) != 0 ? greater : 0U) | ((relations & 8U) != 0 ? ~(less | equal | greater) : 0U);
}

}  // namespace warptime::workloads::frontends::machine
