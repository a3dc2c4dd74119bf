// Sets the conditions of a prediction one by one from text.
// The text is an option of a command line, a cell of a CSV row, or a keyword of Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

#include <span>
#include <string_view>

namespace warptime::workloads {

struct ConditionInfo {
    std::string_view name;
    std::string_view default_text;  ///< empty: the GPU or the model gives it
    std::string_view meaning;
};

/// The conditions cache, duty, data, available_sms, clock_mhz, ecc, between and in_turn.
[[nodiscard]] std::span<const ConditionInfo> condition_infos();

/// Finds a condition by its name in any case; null for any other name.
[[nodiscard]] const ConditionInfo* find_condition(std::string_view name);

/// Sets one condition; clock_mhz is in MHz, between in bytes unless it has a unit. Throws Error naming the
/// condition for an unknown name or a value of another form. The caller must check that the GPU can have the
/// value (check_conditions).
void set_condition(model::prediction::Conditions& conditions, std::string_view name, std::string_view text);

/// Throws Error when the conditions ask for more SMs or a higher clock than the GPU has, for error correction
/// that makes no difference there, for bytes between two launches over caches that hold nothing of the
/// first, or for operands in turn where nothing comes between. Whether a program has these operands is
/// checked where its time is asked for (operands_in_turn.hpp).
void check_conditions(const model::prediction::Conditions& conditions, const hw::Gpu& gpu);

}  // namespace warptime::workloads
