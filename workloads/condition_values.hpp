// The conditions of a prediction set one by one from text: an option of a command line, a cell of a CSV row,
// a keyword of Python. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

#include <span>
#include <string_view>

namespace warptime::workloads {

struct ConditionInfo {
    std::string_view name;
    std::string_view default_text;  ///< empty: from the GPU or the model
    std::string_view meaning;
};

/// cache, duty, data, available_sms, clock_mhz.
[[nodiscard]] std::span<const ConditionInfo> condition_infos();

/// In any case; null for any other name.
[[nodiscard]] const ConditionInfo* find_condition(std::string_view name);

/// Sets one condition; clock_mhz is in MHz. Throws Error naming the condition for an unknown name or a value
/// of another form. What the GPU can have of them is for the caller to check (check_conditions).
void set_condition(model::prediction::Conditions& conditions, std::string_view name, std::string_view text);

/// Throws Error when more SMs or a higher clock are asked for than the GPU has.
void check_conditions(const model::prediction::Conditions& conditions, const hw::Gpu& gpu);

}  // namespace warptime::workloads
