// The cases of `check`: rows of a batch, and the launches of programs that run without a GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/checks/baseline.hpp"
#include "bindings/cli/batch_predictor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

/// Predicts every row of a CSV file in the form of `batch`, "-" for stdin. Two more columns: `_case` names a
/// row, and `command` is the command line of a row whose op is `program`, which gives one case for each of
/// its different launches. Fills the cases and their GPUs. Throws UsageError for a file that cannot be read
/// and for two cases of one name; a row that cannot be predicted becomes a case with its error.
void predict_cases(const std::string& path, const BatchDefaults& defaults, checks::Baseline& baseline);

/// Words of a command line: blanks part them, quotes ('...' or "...") and a backslash keep blanks. Throws
/// UsageError for an open quote. Nothing else has a meaning, since no shell runs.
[[nodiscard]] std::vector<std::string> split_command(std::string_view command);

}  // namespace warptime::cli
