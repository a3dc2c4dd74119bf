// Arithmetic of the calibration plan: a formula over named numbers, as "1.5 * value / gpu.sm.count".
// Ignores: functions and text. Comparisons give 1 or 0; `and`, `or` and `not` take anything but 0 as true.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace warptime::validate::calibrate {

/// The number of a name; throws Error when there is none.
using Names = std::function<double(std::string_view name)>;

/// Operators, loosest first: or; and; not; < <= > >= == !=; + -; * /; unary -; ( ). Names hold letters,
/// digits, `_` and `.`. Throws Error with the text when the text is no formula.
[[nodiscard]] double evaluate(std::string_view formula, const Names& names);

}  // namespace warptime::validate::calibrate
