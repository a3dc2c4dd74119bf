// Numbers as a person reads them: a prefix that leaves one to three digits before the point, four digits in
// all. Ignores: reading such text back; hw/unit.hpp is the exact form used in data. SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace warptime::reports {

/// 1.234e-5 -> "12.34 us"; ns to s. Time is given in seconds.
[[nodiscard]] std::string time_text(double seconds);
/// 4.8e12, "B/s" -> "4.800 TB/s"; decimal prefixes. Numbers below 1 stand without a prefix.
[[nodiscard]] std::string quantity_text(double value, std::string_view unit);
/// 0.1234 -> "12.3 %"
[[nodiscard]] std::string percent_text(double fraction);
/// A bare number: whole ones with all digits up to 2^53, others with four.
[[nodiscard]] std::string number_text(double value);

}  // namespace warptime::reports
