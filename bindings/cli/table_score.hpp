// validate --data TABLE.csv: how well predictions agree with anyone's table of measured times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"

namespace warptime::cli {

/// Scores the table of --data (measured_table.hpp). Returns an exit code.
[[nodiscard]] int score_table(const Arguments& arguments);

}  // namespace warptime::cli
