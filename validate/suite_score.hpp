// The figures of one suite on one GPU, split by split: errors, bias, ranks, coverage of the bands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/size_class.hpp"
#include "validate/split.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warptime::validate {

/// One recorded case beside its predictions. Microseconds.
struct ScoredCase {
    std::string name;  ///< "gemm dtype=bf16 k=4096 m=4096 n=4096"
    Split split = Split::fit;
    double measured_us = 0.0;
    double predicted_us = 0.0, low_us = 0.0, high_us = 0.0;
    std::string limiter;
    std::string error;                  ///< not empty: refused
    std::optional<double> baseline_us;  ///< of the trivial baseline
    /// The value is no duration in microseconds but cycles or a rate. So the error is relative for any value.
    bool always_relative = false;
    std::string unit = "us";  ///< of the three values, for the reader
};

/// A case among the worst; refused cases have no prediction and an error of 1.
struct WorstCase {
    std::string name;
    double measured_us = 0.0;
    double predicted_us = 0.0;
    double error = 0.0;  ///< |p - t| / t
    std::string limiter;
    std::string refusal;
    std::string unit = "us";
};

/// Relative errors e = |p - t| / t are over rows of at least 10 us. A refusal counts as 1 there. Bias and
/// rank correlation are over predicted rows. Shorter rows count by |p - t|, and a refusal as t. NaN: no rows.
struct ErrorFigures {
    std::size_t rows = 0;
    std::size_t refused = 0;  ///< of all rows, short ones included
    double mape = 0.0, median = 0.0, p90 = 0.0, p95 = 0.0, worst = 0.0;
    double bias = 0.0;  ///< mean ln(p / t)
    double rank_correlation = 0.0;
    std::size_t short_rows = 0;
    double short_mean_us = 0.0;
};

/// Figures of the 80 % band in one size class. A refusal is not covered. Width is ln(high / low).
struct BandFigures {
    std::size_t rows = 0;
    std::size_t predicted = 0;  ///< predicted rows; the means are over these rows
    double coverage = 0.0;
    double mean_log_width = 0.0;
    double mean_log_error = 0.0;  ///< mean |ln(p / t)|, the yardstick for the width
    /// Mean of width + 10 x the distance by which the measured time lies outside, as a logarithm. The mean is
    /// least for the true 80 % interval. Inside the same band, a better prediction never has a worse score.
    /// Source: interval score, Gneiting & Raftery 2007, section 6.2 (doi.org/10.1198/016214506000001437).
    double mean_interval_score = 0.0;
};

/// Figures of the rows of both bands together.
[[nodiscard]] BandFigures joined(const BandFigures& a, const BandFigures& b);

struct SplitScore {
    Split split = Split::fit;
    ErrorFigures model;
    std::optional<ErrorFigures> baseline;
    std::array<BandFigures, size_class_count> bands;
    std::vector<WorstCase> worst;  ///< largest error first, rows of at least 10 us
};

/// `cases` may be of any split. `worst` is the number of worst cases to name.
[[nodiscard]] SplitScore score_split(std::span<const ScoredCase> cases, Split split, std::size_t worst);

}  // namespace warptime::validate
