// One pass over the cases of a split for each group of figures.
// SPDX-License-Identifier: Apache-2.0
#include "validate/suite_score.hpp"

#include "validate/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::validate {
namespace {

constexpr double band_share = 0.80;  ///< share of the rows that a band should hold

struct Pair {
    double predicted_us = 0.0;
    double measured_us = 0.0;
    bool refused = false;
    bool always_relative = false;
};

std::size_t size_class(double measured_us, bool always_relative) {
    return always_relative ? middle_size_class : size_class_of(measured_us);
}

ErrorFigures figures_of(std::span<const Pair> pairs) {
    ErrorFigures figures;
    std::vector<double> errors;
    std::vector<double> log_ratios;
    std::vector<double> predicted;
    std::vector<double> measured;
    std::vector<double> short_errors;
    for (const Pair& pair : pairs) {
        figures.refused += pair.refused ? 1U : 0U;
        const double shown = pair.refused ? 0.0 : pair.predicted_us;
        if (size_class(pair.measured_us, pair.always_relative) == 0) {
            short_errors.push_back(std::abs(shown - pair.measured_us));
            continue;
        }
        errors.push_back(relative_error(shown, pair.measured_us));
        if (pair.refused) continue;
        log_ratios.push_back(std::log(pair.predicted_us / pair.measured_us));
        predicted.push_back(pair.predicted_us);
        measured.push_back(pair.measured_us);
    }
    figures.rows = errors.size();
    figures.mape = mean(errors);
    figures.median = median(errors);
    figures.p90 = quantile(errors, 0.90);
    figures.p95 = quantile(errors, 0.95);
    figures.worst = quantile(errors, 1.0);
    figures.bias = mean(log_ratios);
    figures.rank_correlation = rank_correlation(predicted, measured);
    figures.short_rows = short_errors.size();
    figures.short_mean_us = mean(short_errors);
    return figures;
}

BandFigures bands_of(std::span<const ScoredCase* const> cases, std::size_t wanted) {
    BandFigures figures;
    double covered = 0.0;
    std::vector<double> widths;
    std::vector<double> errors;
    std::vector<double> interval_scores;
    for (const ScoredCase* scored : cases) {
        if (size_class(scored->measured_us, scored->always_relative) != wanted) continue;
        ++figures.rows;
        if (!scored->error.empty()) continue;
        covered +=
            scored->low_us <= scored->measured_us && scored->measured_us <= scored->high_us ? 1.0 : 0.0;
        const double width = std::log(scored->high_us / scored->low_us);
        widths.push_back(width);
        const double outside = std::max({0.0, std::log(scored->low_us / scored->measured_us),
                                         std::log(scored->measured_us / scored->high_us)});
        interval_scores.push_back(width + 2.0 / (1.0 - band_share) * outside);
        errors.push_back(std::abs(std::log(scored->predicted_us / scored->measured_us)));
    }
    figures.predicted = widths.size();
    figures.coverage = covered / static_cast<double>(figures.rows);
    figures.mean_log_width = mean(widths);
    figures.mean_log_error = mean(errors);
    figures.mean_interval_score = mean(interval_scores);
    return figures;
}

std::vector<WorstCase> worst_of(std::span<const ScoredCase* const> cases, std::size_t count) {
    std::vector<WorstCase> worst;
    for (const ScoredCase* scored : cases) {
        if (size_class(scored->measured_us, scored->always_relative) == 0) continue;
        const double predicted = scored->error.empty() ? scored->predicted_us : 0.0;
        worst.push_back({scored->name, scored->measured_us, predicted,
                         relative_error(predicted, scored->measured_us), scored->limiter, scored->error,
                         scored->unit});
    }
    // The name breaks ties, so that the order does not depend on the order of the files.
    std::sort(worst.begin(), worst.end(), [](const WorstCase& a, const WorstCase& b) {
        return a.error != b.error ? a.error > b.error : a.name < b.name;
    });
    worst.resize(std::min(worst.size(), count));
    return worst;
}

/// Mean of two groups; the mean of an empty one is NaN.
double joined_mean(double a, std::size_t of_a, double b, std::size_t of_b) {
    if (of_a == 0) return b;
    if (of_b == 0) return a;
    const auto count_a = static_cast<double>(of_a);
    const auto count_b = static_cast<double>(of_b);
    return (a * count_a + b * count_b) / (count_a + count_b);
}

}  // namespace

BandFigures joined(const BandFigures& a, const BandFigures& b) {
    BandFigures figures;
    figures.rows = a.rows + b.rows;
    figures.predicted = a.predicted + b.predicted;
    figures.coverage = joined_mean(a.coverage, a.rows, b.coverage, b.rows);
    figures.mean_log_width = joined_mean(a.mean_log_width, a.predicted, b.mean_log_width, b.predicted);
    figures.mean_log_error = joined_mean(a.mean_log_error, a.predicted, b.mean_log_error, b.predicted);
    figures.mean_interval_score =
        joined_mean(a.mean_interval_score, a.predicted, b.mean_interval_score, b.predicted);
    return figures;
}

SplitScore score_split(std::span<const ScoredCase> cases, Split split, std::size_t worst) {
    std::vector<const ScoredCase*> mine;
    std::vector<Pair> model;
    std::vector<Pair> baseline;
    for (const ScoredCase& scored : cases) {
        if (scored.split != split) continue;
        mine.push_back(&scored);
        model.push_back(
            {scored.predicted_us, scored.measured_us, !scored.error.empty(), scored.always_relative});
        if (scored.baseline_us)
            baseline.push_back({*scored.baseline_us, scored.measured_us, false, scored.always_relative});
    }
    SplitScore score;
    score.split = split;
    score.model = figures_of(model);
    if (!baseline.empty()) score.baseline = figures_of(baseline);
    for (std::size_t c = 0; c < size_class_count; ++c) score.bands[c] = bands_of(mine, c);
    score.worst = worst_of(mine, worst);
    return score;
}

}  // namespace warptime::validate
