// How well predictions agree with the recorded rows, per GPU and suite, fit / development / held-out apart.
// Beside the model: the trivial baseline, the noise floor of the measurement and the number of constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/setting.hpp"
#include "model/prediction/engine.hpp"
#include "validate/baseline.hpp"
#include "validate/counter_score.hpp"
#include "validate/noise_floor.hpp"
#include "validate/recorded_rows.hpp"
#include "validate/row_predictor.hpp"
#include "validate/suite_score.hpp"

#include <optional>
#include <string>
#include <vector>

namespace warptime::validate {

struct ScoreOptions {
    std::vector<std::string> suites;    ///< empty: all. Error for one that is not recorded.
    std::vector<std::string> gpus;      ///< empty: all
    std::size_t worst = 3;              ///< how many of the worst rows to name, per suite and split
    std::vector<hw::Setting> settings;  ///< changes to every GPU
};

/// A suite with its surroundings.
struct SuiteReport {
    SuiteScore score;
    ConstantCount constants;
    std::optional<Baseline> baseline;
    std::optional<NoiseFloor> noise;  ///< nothing: no row was recorded again
    std::size_t repeated = 0;
};

/// Rows that no prediction is compared with: microbenchmarks, operators that are not known yet.
struct CountedSuite {
    std::string gpu, suite;
    std::size_t rows = 0;
};

struct Scoreboard {
    std::string engine;
    std::size_t files = 0, rows = 0;
    std::vector<SuiteReport> suites;  ///< by GPU, then suite
    std::vector<CounterScore> counters;
    std::vector<CountedSuite> counted;
};

[[nodiscard]] Scoreboard score(const RecordedRows& rows, RowPredictor& predictor,
                               const ScoreOptions& options = {});
[[nodiscard]] Scoreboard score(const RecordedRows& rows, const model::prediction::Engine& engine,
                               const ScoreOptions& options = {});

/// Tables for a terminal.
[[nodiscard]] std::string to_text(const Scoreboard& board);
/// Schema "warptime.scoreboard/1"; fractions, not per cent; null where there are no rows.
[[nodiscard]] std::string to_json(const Scoreboard& board);

}  // namespace warptime::validate
