// Ceilings on the scoreboard's figures, one a suite, data set, split and metric; they may only tighten.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/scoreboard.hpp"

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace warptime::validate {

/// A line of expected_error.csv. data_set is the GPU's id. metric: mape, median, p90, p95, worst (fractions),
/// bias (its size), refused (rows), short_mean_us; of counters "median:NAME" and "p90:NAME".
struct Ceiling {
    std::string suite, data_set;
    Split split = Split::fit;
    std::string metric;
    double ceiling = 0.0;
    std::int64_t line = 0;
};

/// A ceiling that does not hold; no figure: the suite, split or metric is missing from the scoreboard.
struct Violation {
    Ceiling ceiling;
    std::optional<double> figure;
};

/// Throws Error naming file, line and column.
[[nodiscard]] std::vector<Ceiling> read_ceilings(std::istream& in, const std::string& name);
[[nodiscard]] std::string write_ceilings(const std::vector<Ceiling>& ceilings);

/// The scoreboard's figure that a ceiling is about; nothing when it has none.
[[nodiscard]] std::optional<double> figure_of(const Scoreboard& board, const Ceiling& ceiling);

[[nodiscard]] std::vector<Violation> check_ceilings(const Scoreboard& board,
                                                    const std::vector<Ceiling>& ceilings);
[[nodiscard]] std::string to_text(const Violation& violation);

/// Lowers every ceiling to the figure plus 1 %, rounded up to four digits, where that is lower; never raises
/// one. A suite without any ceiling gets mape, p90, short_mean_us and refused (counters: median) for each
/// split.
[[nodiscard]] std::vector<Ceiling> tighten_ceilings(const Scoreboard& board, std::vector<Ceiling> ceilings);

}  // namespace warptime::validate
