// Circumstances of a launch that change its time: contents of the caches, what runs between two launches,
// duty of the chip, operand data, error correction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/name.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::model::prediction {

/// cold: L2 invalidated, as Nsight Compute leaves it. flushed: L2 full of another buffer's dirty lines, as a
/// benchmark that flushes by writing leaves it; fetches of instructions, constants and descriptors are cold
/// too. warm: operands that fit are in L2.
enum class Cache : std::uint8_t { cold, flushed, warm };
/// isolated: one launch on an idle chip. sustained: back to back, under the power limit.
enum class Duty : std::uint8_t { isolated, sustained };
enum class OperandData : std::uint8_t { random, zeros };
/// Error correction of the board's memory.
enum class Ecc : std::uint8_t { as_shipped, on, off };

struct Conditions {
    Cache cache = Cache::flushed;
    Duty duty = Duty::isolated;
    OperandData data = OperandData::random;
    int available_sms = 0;  ///< 0: all SMs of the GPU
    double clock_hz = 0.0;  ///< 0: the model's own clock
    Ecc ecc = Ecc::as_shipped;
    double between = 0.0;  ///< bytes that other launches touch between two runs of this one, over warm caches
    /// Names of the operands that take turns with those of the launches between; these launches use all
    /// others as this one does. The first empty name ends the list; an empty list: all operands take turns.
    std::array<kernel::Name, 4> in_turn{};
    friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// Bytes that other launches touch between two runs that use an operand, beside what one run touches.
[[nodiscard]] double touched_between(const Conditions& conditions, const kernel::Name& operand);
/// The names of the operands in turn, with + between them; empty: all.
[[nodiscard]] std::string in_turn_text(const Conditions& conditions);
[[nodiscard]] std::string_view to_string(Cache cache);
[[nodiscard]] std::string_view to_string(Duty duty);
[[nodiscard]] std::string_view to_string(OperandData data);
[[nodiscard]] std::string_view to_string(Ecc ecc);
[[nodiscard]] Cache parse_cache(std::string_view text);
[[nodiscard]] Duty parse_duty(std::string_view text);
[[nodiscard]] OperandData parse_operand_data(std::string_view text);
/// on or off.
[[nodiscard]] Ecc parse_ecc(std::string_view text);

}  // namespace warptime::model::prediction
