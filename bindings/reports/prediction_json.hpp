// A prediction, or an error, as one JSON object with fixed keys in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "hw/error.hpp"
#include "model/prediction/prediction.hpp"

#include <string>

namespace warptime::reports {

/// Times in microseconds (time_us, low_us, high_us, span_us), clock in MHz, power in W; shares and
/// utilization are fractions; `settings` is there only where numbers were changed; bound inputs and counters
/// keep their own units. A number that is not finite becomes null. `indent` < 0: on one line.
[[nodiscard]] std::string to_json(const model::prediction::Prediction& prediction,
                                  const ReportContext& context, int indent = 2);

/// {"error": {"parameter", "value", "expected", "message"}}
[[nodiscard]] std::string to_json(const Error& error, int indent = 2);

/// What was asked: version, gpu, operation, conditions and engine, as to_json writes them; for answers that
/// are not one prediction.
[[nodiscard]] std::string request_json(const ReportContext& context);

}  // namespace warptime::reports
