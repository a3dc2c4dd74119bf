// Numbers in a readable form: a prefix, one to three digits before the point, four digits in all.
// Ignores: reading such text back; hw/unit.hpp has the exact form for data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace warptime::reports {

/// Formats 1.234e-5 as "12.34 us", with units from ns to s. Time is given in seconds.
[[nodiscard]] std::string time_text(double seconds);
/// Formats 4.8e12 in "B/s" as "4.800 TB/s", with decimal prefixes. Numbers below 1 have no prefix.
[[nodiscard]] std::string quantity_text(double value, std::string_view unit);
/// Formats 0.1234 as "12.3 %".
[[nodiscard]] std::string percent_text(double fraction);
/// A number without a unit: whole numbers have all digits up to 2^53, other numbers have four.
[[nodiscard]] std::string number_text(double value);

}  // namespace warptime::reports
