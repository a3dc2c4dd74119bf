// How well predictions agree with recorded rows, per GPU and suite; fit, development and held-out rows apart.
// Engines stand side by side on the same rows.
// Beside the engines stand the trivial baseline, the noise floor of the measurement and the number of
// constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/baseline.hpp"
#include "validate/choice_score.hpp"
#include "validate/counter_score.hpp"
#include "validate/noise_floor.hpp"
#include "validate/recorded_rows.hpp"
#include "validate/row_predictor.hpp"
#include "validate/row_set.hpp"
#include "validate/suite_score.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warptime::validate {

struct ScoreOptions {
    std::vector<std::string> suites;  ///< empty: all. Error for a suite that is not recorded.
    std::vector<std::string> gpus;    ///< empty: all. Error for a GPU that is not recorded.
    std::size_t worst = 3;            ///< how many of the worst rows to name, per suite and split
    std::size_t sample = 0;           ///< rows a suite to score, see sample.hpp; 0: all
    bool keep_rows = false;           ///< fill EngineScore::rows
};

/// One recorded row beside its prediction. Refers to the rows that were scored.
struct ScoredRow {
    const RecordedRow* row = nullptr;
    Split split = Split::fit;
    RowPrediction prediction;
};

/// The scores of one engine on a suite.
struct EngineScore {
    std::string engine;
    ConstantCount constants;
    std::vector<SplitScore> splits;      ///< fit, development, held-out; the baseline stands in each
    std::vector<ChoiceFigures> choices;  ///< by split of the shape; empty: the suite is no tile sweep
    std::vector<ScoredRow> rows;         ///< of all splits, only where asked for
};

/// A suite with its surroundings.
struct SuiteReport {
    std::string gpu, suite;
    RowSet recorded;         ///< rows, each measurement once
    std::size_t scored = 0;  ///< scored rows: fewer of a sample
    std::size_t repeated = 0;
    std::optional<NoiseFloor> noise;   ///< nothing: no row was recorded again
    std::optional<Baseline> baseline;  ///< fitted to all recorded fit rows, also for a sample
    std::vector<EngineScore> engines;  ///< in the order asked for
};

/// Rows without a prediction to compare with: microbenchmarks, operators that are not known yet.
struct CountedSuite {
    std::string gpu, suite;
    std::size_t rows = 0;
};

/// Counters as one engine predicts them.
struct EngineCounters {
    std::string engine;
    std::vector<CounterScore> scores;
};

/// The bands of one engine over all operators of a GPU. A band need not fit every suite, but it has to fit
/// all suites together.
struct GpuBands {
    std::string gpu, engine;
    Split split = Split::fit;
    RowSet recorded;  ///< rows of all splits
    std::array<BandFigures, size_class_count> bands;
};

struct Scoreboard {
    std::vector<std::string> engines;
    std::size_t sample = 0;  ///< the sample asked for; 0: everything was scored
    std::size_t files = 0, rows = 0;
    std::vector<SuiteReport> suites;  ///< by GPU, then suite
    std::vector<GpuBands> bands;  ///< by GPU, engine and split, without microbenchmarks and steps; empty for
                                  ///< a selection of suites
    std::vector<EngineCounters> counters;  ///< one an engine
    std::vector<CountedSuite> counted;
};

/// Scores every predictor on the same rows. The ceilings are about the first predictor.
[[nodiscard]] Scoreboard score(const RecordedRows& rows, std::span<RowPredictor* const> predictors,
                               const ScoreOptions& options = {});
[[nodiscard]] Scoreboard score(const RecordedRows& rows, RowPredictor& predictor,
                               const ScoreOptions& options = {});

/// Tables for a terminal. Only the JSON holds the worst cases of the held-out split.
[[nodiscard]] std::string to_text(const Scoreboard& board);
/// Schema "warptime.scoreboard/2"; fractions, not per cent; null where there are no rows.
[[nodiscard]] std::string to_json(const Scoreboard& board);

}  // namespace warptime::validate
