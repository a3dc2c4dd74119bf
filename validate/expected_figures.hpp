// The figures of the scoreboard that a ceiling can be set on, by the names that expected_error.csv gives
// them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/scoreboard.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate {

/// Where a figure stands. All of them are the first engine's, and all are better the smaller they are:
/// - mape, median, p90, p95, worst (fractions), bias (its size), refused (rows), short_mean_us;
/// - of the 80 % band in a size class, named as in size_class.hpp, "coverage:CLASS" = |coverage - 0.8|,
/// "width:CLASS" =
///   mean log-width over mean |ln(p/t)| and "band_score:CLASS" = mean interval score, of a suite or of all
///   operators of a GPU (suite "all");
/// - of choices, by split of the shape: top1_loss, top5_loss = 1 - mean score, top1_worst_loss,
/// top5_worst_loss =
///   1 - worst score, choice_gap;
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
    /// A ceiling is not drawn below this: the figure is then within its target and what chance alone does to
    /// it, so that a lower ceiling would hold back changes that harm nothing. 0 for errors, which have no
    /// such place.
    double good_enough = 0.0;
    std::string rows;  ///< recorded rows of the suite, all splits, as text: what the data set was
};

/// Nothing when the scoreboard has no such figure.
[[nodiscard]] std::optional<Figure> find_figure(const Scoreboard& board, const FigurePlace& place);

/// The places that get a ceiling without anybody asking for it. Bands get theirs over all operators of a GPU,
/// because one width serves many suites, and on coverage and interval score: a width alone can always be had
/// for coverage.
[[nodiscard]] std::vector<FigurePlace> default_places(const Scoreboard& board);

}  // namespace warptime::validate
