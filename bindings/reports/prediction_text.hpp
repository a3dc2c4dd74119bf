// A prediction for a terminal: a short form of about eight lines, and a long one that shows where the time
// goes. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "model/prediction/prediction.hpp"

#include <string>

namespace warptime::reports {

/// Operation, time with its band, limiter, what was achieved, occupancy, the largest shares.
[[nodiscard]] std::string short_text(const model::prediction::Prediction& prediction,
                                     const ReportContext& context);

/// The above, then shares as bars, every bound with its inputs (largest time first), utilization, occupancy,
/// counters and steps.
[[nodiscard]] std::string explain_text(const model::prediction::Prediction& prediction,
                                       const ReportContext& context);

}  // namespace warptime::reports
