// The errors of predicted hardware counters, one line a metric.
// A time may be right for the wrong reason, and counters show the reason.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/row_predictor.hpp"
#include "validate/row_set.hpp"
#include "validate/split.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace warptime::validate {

/// Counts of bytes below this are judged by |p - c|. A profiler and the launch itself move a large part of
/// such counts. Sectors count as the bytes they hold.
inline constexpr double smallest_relative_bytes = 1e6;

/// Relative errors |p - c| / c. Where the counter read 0, a prediction of 0 has no error and any other
/// prediction has 1. A refused case counts as 1. NaN: no rows.
struct CounterFigures {
    std::size_t rows = 0;  ///< of the median and p90
    double median = 0.0;
    double p90 = 0.0;
    std::size_t small_rows = 0;     ///< with less than smallest_relative_bytes counted
    double small_mean_bytes = 0.0;  ///< mean |p - c| of these rows, refused cases left out; NaN: none
};

struct CounterScore {
    std::string gpu, suite, metric;
    std::array<CounterFigures, 3> splits;  ///< fit, development, held-out
    std::size_t not_predicted = 0;         ///< rows whose case is predicted, without this metric
    RowSet recorded;                       ///< rows of this metric
};

[[nodiscard]] bool is_counter_row(const RecordedRow& row);

/// One score a metric, sorted by GPU, suite and metric. `rows` are counter rows.
[[nodiscard]] std::vector<CounterScore> score_counters(std::span<const RecordedRow* const> rows,
                                                       RowPredictor& predictor);

}  // namespace warptime::validate
