// A comparison for a terminal, for programs, for a pull request, and for the test view of a CI service.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/checks/comparison.hpp"

#include <string>

namespace warptime::checks {

[[nodiscard]] std::string text_report(const Comparison& comparison);
[[nodiscard]] std::string json_report(const Comparison& comparison, const Baseline& now);
/// A table; the text of a comment on a pull request, or of a job's summary.
[[nodiscard]] std::string markdown_report(const Comparison& comparison);
/// JUnit's XML: a test for each case, a failure for a regression, an error for a case without time.
[[nodiscard]] std::string junit_report(const Comparison& comparison);

}  // namespace warptime::checks
