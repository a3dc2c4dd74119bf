// validate --data TABLE.csv: how well predictions agree with anyone's table of measured times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

/// Whether --data names a table instead of a folder.
[[nodiscard]] bool names_table(const Arguments& arguments);

/// Scores the table. Columns: m, n, k, dtype and the measured time as time_us, time_ms, time_ns or time_s;
/// further columns are those of `warptime batch`. Without a column op the rows are products. Throws
/// UsageError for a table that cannot be read, and for times that can only be of another unit. Returns an
/// exit code.
[[nodiscard]] int score_table(const Arguments& arguments);

/// Seconds in one unit of a column's name, "time_ms"; nothing for other names.
[[nodiscard]] std::optional<double> seconds_in(std::string_view column);

/// The unit that measured times seem to have where they are taken for `given`, by their median ratio to the
/// predicted times: "time_ms". Empty where the ratio is not near a thousand, or a millionth.
[[nodiscard]] std::string likelier_unit(std::string_view given, double measured_over_predicted);

}  // namespace warptime::cli
