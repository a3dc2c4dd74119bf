// Looks figures up by name.
// Targets are those of the project.
// Bands cover 75 to 85 % and are at most 3.3 times as wide as the mean error.
// A choice is within 3 % (worst 10 %) of the best, and one of five choices within 0.5 %.
// SPDX-License-Identifier: Apache-2.0
#include "validate/expected_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::validate {
namespace {

constexpr std::string_view median_prefix = "median:";
constexpr std::string_view p90_prefix = "p90:";
constexpr std::string_view coverage_prefix = "coverage:";
constexpr std::string_view width_prefix = "width:";
constexpr std::string_view band_score_prefix = "band_score:";
constexpr std::string_view all_operators = "all";

constexpr double band_coverage = 0.80;
constexpr double coverage_target = 0.05;  ///< either side
constexpr double width_target = 3.3;
/// With fewer rows a coverage says next to nothing: its standard deviation is above 9 points.
constexpr std::size_t least_band_rows = 20;

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

struct ErrorName {
    std::string_view name;
    double ErrorFigures::*figure;
};
constexpr std::array<ErrorName, 7> error_names{{{"mape", &ErrorFigures::mape},
                                                {"median", &ErrorFigures::median},
                                                {"p90", &ErrorFigures::p90},
                                                {"p95", &ErrorFigures::p95},
                                                {"worst", &ErrorFigures::worst},
                                                {"bias", &ErrorFigures::bias},
                                                {"short_mean_us", &ErrorFigures::short_mean_us}}};

struct ChoiceName {
    std::string_view name;
    double (*figure)(const ChoiceFigures&);
    double target = 0.0;
};
constexpr std::array<ChoiceName, 5> choice_names{
    {{"top1_loss", [](const ChoiceFigures& c) { return 1.0 - c.top1.mean; }, 0.03},
     {"top1_worst_loss", [](const ChoiceFigures& c) { return 1.0 - c.top1.worst; }, 0.10},
     {"top5_loss", [](const ChoiceFigures& c) { return 1.0 - c.top5.mean; }, 0.005},
     {"top5_worst_loss", [](const ChoiceFigures& c) { return 1.0 - c.top5.worst; }, 0.10},
     {"choice_gap", [](const ChoiceFigures& c) { return c.gap; }, 0.05}}};

template <class Names>
auto find_name(const Names& names, std::string_view name) -> const typename Names::value_type* {
    const auto found =
        std::find_if(names.begin(), names.end(), [name](const auto& one) { return one.name == name; });
    return found == names.end() ? nullptr : &*found;
}

std::optional<std::size_t> size_class_named(std::string_view name) {
    for (std::size_t c = 0; c < size_class_count; ++c) {
        if (size_class_names[c] == name) return c;
    }
    return std::nullopt;
}

std::optional<Figure> finite(double value, double good_enough = 0.0) {
    return std::isfinite(value) ? std::optional<Figure>({value, good_enough, {}}) : std::nullopt;
}

std::optional<Figure> error_figure(const ErrorFigures& errors, std::string_view metric) {
    if (metric == "refused") {
        const bool any = errors.rows + errors.short_rows > 0;
        return any ? finite(static_cast<double>(errors.refused)) : std::nullopt;
    }
    const ErrorName* name = find_name(error_names, metric);
    if (name == nullptr) return std::nullopt;
    const double value = errors.*(name->figure);
    return finite(metric == "bias" ? std::abs(value) : value);
}

/// The prefix of a metric of bands; nothing for others.
std::optional<std::string_view> band_prefix(std::string_view metric) {
    for (const std::string_view prefix : {coverage_prefix, width_prefix, band_score_prefix}) {
        if (starts_with(metric, prefix)) return prefix;
    }
    return std::nullopt;
}

std::optional<Figure> band_figure(const std::array<BandFigures, size_class_count>& bands,
                                  std::string_view prefix, std::string_view metric) {
    const auto size_class = size_class_named(metric.substr(prefix.size()));
    if (!size_class) return std::nullopt;
    const BandFigures& band = bands[*size_class];
    if (prefix == band_score_prefix) return finite(band.mean_interval_score);
    if (band.rows < least_band_rows) return std::nullopt;
    if (prefix == width_prefix) return finite(band.mean_log_width / band.mean_log_error, width_target);
    const double chance =
        1.96 * std::sqrt(band_coverage * (1.0 - band_coverage) / static_cast<double>(band.rows));
    return finite(std::abs(band.coverage - band_coverage), coverage_target + chance);
}

std::optional<Figure> with_rows(std::optional<Figure> figure, const RowSet& rows) {
    if (figure) figure->rows = to_text(rows);
    return figure;
}

std::optional<Figure> gpu_figure(const Scoreboard& board, const FigurePlace& place) {
    const auto prefix = band_prefix(place.metric);
    if (!prefix) return std::nullopt;
    for (const GpuBands& bands : board.bands) {
        if (bands.engine != board.engines.front() || bands.gpu != place.data_set) continue;
        if (bands.split != place.split) continue;
        return with_rows(band_figure(bands.bands, *prefix, place.metric), bands.recorded);
    }
    return std::nullopt;
}

std::optional<Figure> suite_figure(const EngineScore& engine, std::size_t split, std::string_view metric) {
    if (const auto prefix = band_prefix(metric))
        return band_figure(engine.splits[split].bands, *prefix, metric);
    if (const ChoiceName* name = find_name(choice_names, metric)) {
        if (engine.choices.empty()) return std::nullopt;
        return finite(name->figure(engine.choices[split]), name->target);
    }
    return error_figure(engine.splits[split].model, metric);
}

std::optional<Figure> counter_figure(const CounterScore& score, std::size_t split, std::string_view metric) {
    if (metric == std::string(median_prefix) + score.metric) return finite(score.splits[split].median);
    if (metric == std::string(p90_prefix) + score.metric) return finite(score.splits[split].p90);
    return std::nullopt;
}

void append_classes(std::vector<std::string>& metrics, std::string_view prefix) {
    for (const std::string_view name : size_class_names) {
        metrics.push_back(std::string(prefix) + std::string(name));
    }
}

std::vector<std::string> suite_metrics() {
    std::vector<std::string> metrics{"mape", "p90", "short_mean_us", "refused"};
    for (const ChoiceName& name : choice_names) metrics.emplace_back(name.name);
    return metrics;
}

std::vector<std::string> gpu_metrics() {
    std::vector<std::string> metrics;
    append_classes(metrics, coverage_prefix);
    append_classes(metrics, band_score_prefix);
    return metrics;
}

void append_places(std::vector<FigurePlace>& places, const std::string& suite, const std::string& gpu,
                   Split split, const std::vector<std::string>& metrics) {
    for (const std::string& metric : metrics) places.push_back({suite, gpu, split, metric});
}

}  // namespace

bool is_metric(std::string_view metric) {
    if (const auto prefix = band_prefix(metric)) {
        return size_class_named(metric.substr(prefix->size())).has_value();
    }
    return metric == "refused" || starts_with(metric, median_prefix) || starts_with(metric, p90_prefix) ||
           find_name(error_names, metric) != nullptr || find_name(choice_names, metric) != nullptr;
}

std::string_view known_metrics() {
    return "mape, median, p90, p95, worst, bias, refused, short_mean_us, top1_loss, top1_worst_loss, "
           "top5_loss, "
           "top5_worst_loss, choice_gap, band_score:CLASS, coverage:CLASS, width:CLASS, median:NAME or "
           "p90:NAME";
}

std::optional<Figure> find_figure(const Scoreboard& board, const FigurePlace& place) {
    if (place.suite == all_operators) return gpu_figure(board, place);
    const auto split = static_cast<std::size_t>(place.split);
    if (!board.counters.empty()) {
        for (const CounterScore& score : board.counters.front().scores) {
            if (score.gpu != place.data_set || score.suite != place.suite) continue;
            const auto figure = counter_figure(score, split, place.metric);
            if (figure) return with_rows(figure, score.recorded);
        }
    }
    for (const SuiteReport& report : board.suites) {
        if (report.gpu != place.data_set || report.suite != place.suite) continue;
        return with_rows(suite_figure(report.engines.front(), split, place.metric), report.recorded);
    }
    return std::nullopt;
}

std::vector<FigurePlace> default_places(const Scoreboard& board) {
    std::vector<FigurePlace> places;
    for (const SuiteReport& report : board.suites) {
        for (const Split split : all_splits) {
            append_places(places, report.suite, report.gpu, split, suite_metrics());
        }
    }
    for (const GpuBands& bands : board.bands) {
        if (bands.engine != board.engines.front()) continue;
        append_places(places, std::string(all_operators), bands.gpu, bands.split, gpu_metrics());
    }
    if (board.counters.empty()) return places;
    for (const CounterScore& score : board.counters.front().scores) {
        for (const Split split : all_splits) {
            places.push_back({score.suite, score.gpu, split, std::string(median_prefix) + score.metric});
        }
    }
    return places;
}

}  // namespace warptime::validate
