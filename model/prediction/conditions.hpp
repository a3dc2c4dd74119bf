// The circumstances of a launch that change its time: what the caches hold, how the chip is driven, what the
// data are. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace warptime::model::prediction {

/// cold: L2 invalidated, as Nsight Compute leaves it. flushed: full of another buffer's dirty lines, as a
/// benchmark that flushes by writing leaves it; instruction, constant and descriptor fetches are cold too.
/// warm: the operands that fit are in L2.
enum class Cache : std::uint8_t { cold, flushed, warm };
/// isolated: one launch on an idle chip. sustained: back to back, under the power limit.
enum class Duty : std::uint8_t { isolated, sustained };
enum class OperandData : std::uint8_t { random, zeros };

struct Conditions {
    Cache cache = Cache::flushed;
    Duty duty = Duty::isolated;
    OperandData data = OperandData::random;
    int available_sms = 0;  ///< 0: all of the GPU
    double clock_hz = 0.0;  ///< 0: from the model
    friend bool operator==(const Conditions&, const Conditions&) = default;
};

[[nodiscard]] std::string_view to_string(Cache cache);
[[nodiscard]] std::string_view to_string(Duty duty);
[[nodiscard]] std::string_view to_string(OperandData data);
[[nodiscard]] Cache parse_cache(std::string_view text);
[[nodiscard]] Duty parse_duty(std::string_view text);
[[nodiscard]] OperandData parse_operand_data(std::string_view text);

}  // namespace warptime::model::prediction
