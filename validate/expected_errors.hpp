// Ceilings on the scoreboard's figures, one a suite, data set, split and metric.
// For the same rows a ceiling only tightens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/expected_figures.hpp"

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace warptime::validate {

/// A line of expected_error.csv. A ceiling is about the rows that were recorded when the ceiling was set.
/// With other rows the ceiling says nothing until it is set anew.
struct Ceiling {
    FigurePlace place;
    double ceiling = 0.0;
    std::string rows;  ///< to_text of the RowSet of the recorded rows
    std::int64_t line = 0;
};

/// A ceiling that does not hold. Without a figure, the suite, split or metric is missing from the scoreboard.
/// A figure of other rows than the ceiling's is a violation, too.
struct Violation {
    Ceiling ceiling;
    std::optional<Figure> figure;
};

/// Throws Error naming file, line and column.
[[nodiscard]] std::vector<Ceiling> read_ceilings(std::istream& in, const std::string& name);
[[nodiscard]] std::string write_ceilings(const std::vector<Ceiling>& ceilings);

[[nodiscard]] std::vector<Violation> check_ceilings(const Scoreboard& board,
                                                    const std::vector<Ceiling>& ceilings);
[[nodiscard]] std::string to_text(const Violation& violation);

/// Lowers every ceiling to the figure plus 1 %, rounded up to four digits, where that is lower. A ceiling
/// never goes below the figure's `good_enough`, and never rises for the same rows. A ceiling of other rows is
/// set anew, lower or higher. Places of `default_places` without a ceiling get one.
[[nodiscard]] std::vector<Ceiling> tighten_ceilings(const Scoreboard& board, std::vector<Ceiling> ceilings);

}  // namespace warptime::validate
