// A prediction for a terminal: a short form of about eight lines, and a long form.
// The long form shows which causes take the time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "model/prediction/prediction.hpp"

#include <string>

namespace warptime::reports {

/// The short form: operation, time with its band, limiter, achieved rates, occupancy, the largest shares.
[[nodiscard]] std::string short_text(const model::prediction::Prediction& prediction,
                                     const ReportContext& context);

/// The short form, then shares as bars and every bound with its inputs (largest time first). Utilization,
/// occupancy, counters and steps follow.
[[nodiscard]] std::string explain_text(const model::prediction::Prediction& prediction,
                                       const ReportContext& context);

}  // namespace warptime::reports
