// calibrate --data TABLE.csv: the constants of a GPU that anyone's table of measured times determines.
// Ignores: constants that only microbenchmarks tell apart, and the bands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"

namespace warptime::cli {

/// Fits what the table of --data (measured_table.hpp) determines, says which constants these are and why the
/// others are not, and writes them to --output as a sheet of one's own. Returns an exit code.
[[nodiscard]] int calibrate_table(const Arguments& arguments);

}  // namespace warptime::cli
