// `validate --recorded` as one call, for the command line: read, score, check or tighten.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "validate/scoreboard.hpp"

#include <filesystem>
#include <string>

namespace warptime::validate {

struct CommandOptions {
    std::filesystem::path data;      ///< empty: see find_recorded
    std::filesystem::path expected;  ///< empty: expected_error.csv beside the folder of recorded rows
    ScoreOptions score;
    bool json = false;
    bool check = false;    ///< compare with the ceilings
    bool tighten = false;  ///< lower the ceilings in place (written to a temporary file and renamed)
};

struct CommandResult {
    std::string output;    ///< for stdout
    std::string messages;  ///< for stderr: ceilings that do not hold
    int exit_code = 0;     ///< 1 when a ceiling does not hold
};

/// Throws Error for rows or ceilings that cannot be read. With `score.suites`, only their ceilings are
/// checked.
[[nodiscard]] CommandResult validate_recorded(const model::prediction::Engine& engine,
                                              const CommandOptions& options);
/// The same with any predictor.
[[nodiscard]] CommandResult validate_recorded(RowPredictor& predictor, const CommandOptions& options);

}  // namespace warptime::validate
