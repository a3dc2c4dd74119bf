// `validate --recorded` as one call, for the command line: read, score, check or tighten.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/scoreboard.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace warptime::validate {

struct CommandOptions {
    std::filesystem::path data;      ///< empty: see find_recorded
    std::filesystem::path expected;  ///< empty: expected_error.csv beside the folder of recorded rows
    ScoreOptions score;
    bool json = false;
    bool check = false;          ///< compare with the ceilings, which are about the first engine on all rows
    std::filesystem::path rows;  ///< file for the rows one by one, see scoreboard_rows.hpp; empty: none
    bool held_out = false;       ///< held-out rows in that file, too
    bool tighten = false;        ///< lower the ceilings in place (written to a temporary file and renamed)
    std::filesystem::path hashes;     ///< file for a hash a suite, see prediction_hashes.hpp; empty: none
    std::filesystem::path unchanged;  ///< a file of hashes to compare the predictions with; empty: none
};

struct CommandResult {
    std::string output;    ///< for stdout
    std::string messages;  ///< for stderr: ceilings that do not hold, and the purpose of held-out rows
    int exit_code = 0;     ///< 1 when a ceiling does not hold, or a prediction has moved
};

/// Scores every predictor on the same rows, side by side. Throws Error for rows or ceilings that cannot be
/// read. Also throws for a check of a sample, and for a check that no ceiling is about. With `score.suites`
/// or `score.gpus`, only the ceilings of these are checked.
[[nodiscard]] CommandResult validate_recorded(std::span<RowPredictor* const> predictors,
                                              const CommandOptions& options);

}  // namespace warptime::validate
