// The conditions of a prediction set one by one from text: an option of a command line, a cell of a CSV row,
// a keyword of Python. SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Sets one condition; clock_mhz is in MHz. Throws Error naming the condition for an unknown name or a value
/// of another form. That available_sms is no more than the GPU has is for the caller to check
/// (check_available_sms).
void set_condition(model::prediction::Conditions& conditions, std::string_view name, std::string_view text);

/// Throws Error when more SMs are asked for than the GPU has.
void check_available_sms(const model::prediction::Conditions& conditions, int sm_count);

}  // namespace warptime::workloads
