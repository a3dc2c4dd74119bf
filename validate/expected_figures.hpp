// The figures of the scoreboard that a ceiling can be set on, by their names in expected_error.csv.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/scoreboard.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate {

/// Where a figure stands. All figures are the first engine's, and all figures are better when smaller:
/// - mape, median, p90, p95, worst (fractions), bias (its size), refused (rows), short_mean_us;
/// - of the 80 % band by suite, or over a GPU's operators (suite "all"), in a class of size_class.hpp:
///     "coverage:CLASS" = |coverage - 0.8|,
///     "width:CLASS" = mean log-width over mean |ln(p/t)|,
///     "band_score:CLASS" = mean interval score;
/// - of choices, by split of the shape:
///     top1_loss, top5_loss = 1 - mean score,
///     top1_worst_loss, top5_worst_loss = 1 - worst score,
///     choice_gap;
/// - of counters "median:NAME" and "p90:NAME".
struct FigurePlace {
    std::string suite, data_set;  ///< data_set is the GPU's id
    Split split = Split::fit;
    std::string metric;
};

[[nodiscard]] bool is_metric(std::string_view metric);
/// For error messages.
[[nodiscard]] std::string_view known_metrics();

struct Figure {
    double value = 0.0;
    /// A ceiling never goes below this value. At this value the figure is within its target, with the effect
    /// of chance added. A lower ceiling would hold back changes that harm nothing. Errors have no such value:
    /// 0.
    double good_enough = 0.0;
    std::string rows;  ///< recorded rows of the suite, all splits, as text: identifies the data set
};

/// Nothing when the scoreboard has no such figure.
[[nodiscard]] std::optional<Figure> find_figure(const Scoreboard& board, const FigurePlace& place);

/// The places that get a ceiling without a request. Bands get ceilings over all operators of a GPU, because
/// one width serves many suites. These ceilings are on coverage and interval score. A width alone says
/// nothing, because any width can be had for coverage.
[[nodiscard]] std::vector<FigurePlace> default_places(const Scoreboard& board);

}  // namespace warptime::validate
