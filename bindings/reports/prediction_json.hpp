// A prediction, or an error, as one JSON object with fixed keys in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "hw/error.hpp"
#include "model/prediction/prediction.hpp"

#include <string>

namespace warptime::reports {

/// The JSON of a prediction. Times are in microseconds (time_us, low_us, high_us, span_us), clock in MHz,
/// power in W; shares and utilization are fractions. Bound inputs and counters keep their own units.
/// `settings` exists only where numbers were changed. A number that is not finite becomes null. `indent` < 0:
/// one line.
[[nodiscard]] std::string to_json(const model::prediction::Prediction& prediction,
                                  const ReportContext& context, int indent = 2);

/// The JSON of an error: {"error": {"parameter", "value", "expected", "message"}}.
[[nodiscard]] std::string to_json(const Error& error, int indent = 2);

/// The JSON of a request: version, gpu, operation, conditions and engine, as to_json writes them. Use it for
/// answers that are not a single prediction.
[[nodiscard]] std::string request_json(const ReportContext& context);

}  // namespace warptime::reports
