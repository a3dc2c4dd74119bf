// Compares a prediction with the recorded time of the same case: same GPU, parameters and conditions.
// Ignores: rows of other conditions or of a neighbouring size. A case without a recording has no answer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "model/prediction/prediction.hpp"
#include "validate/recorded_rows.hpp"
#include "workloads/registry/registry.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace warptime::reports {

/// The newest row of this case on this GPU; empty if there is none. With defaults written out, every
/// parameter must be equal. Throws Error for a row that cannot be read as a case.
[[nodiscard]] std::optional<validate::RecordedRow> recorded_row_of(
    const validate::RecordedRows& rows, const workloads::Operation& operation,
    const model::prediction::Conditions& conditions, std::string_view gpu);

/// Two lines in the layout of the reports. One gives the recorded time and its origin, the other the error
/// (predicted - recorded) / recorded.
[[nodiscard]] std::string recorded_text(const std::optional<validate::RecordedRow>& row,
                                        const model::prediction::Prediction& prediction);

/// The report `json` with one more member, `recorded`: {time_us, error, in_band, samples, method, board,
/// library, date}. It is null when the case was not recorded.
[[nodiscard]] std::string with_recorded_json(const std::string& json,
                                             const std::optional<validate::RecordedRow>& row,
                                             const model::prediction::Prediction& prediction);

}  // namespace warptime::reports
