// Reads, checks and tightens the ceilings. SPDX-License-Identifier: Apache-2.0
#include "validate/expected_errors.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <tuple>

namespace warptime::validate {
namespace {

constexpr std::array<std::string_view, 5> columns{"suite", "data_set", "split", "metric", "ceiling"};
constexpr std::string_view median_prefix = "median:";
constexpr std::string_view p90_prefix = "p90:";

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

struct FigureName {
    std::string_view name;
    double ErrorFigures::*figure;
};
constexpr std::array<FigureName, 7> figure_names{{{"mape", &ErrorFigures::mape},
                                                  {"median", &ErrorFigures::median},
                                                  {"p90", &ErrorFigures::p90},
                                                  {"p95", &ErrorFigures::p95},
                                                  {"worst", &ErrorFigures::worst},
                                                  {"bias", &ErrorFigures::bias},
                                                  {"short_mean_us", &ErrorFigures::short_mean_us}}};

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::optional<double> figure_of(const ErrorFigures& errors, std::string_view metric) {
    if (metric == "refused") {
        const bool any = errors.rows + errors.short_rows > 0;
        return any ? std::optional<double>(static_cast<double>(errors.refused)) : std::nullopt;
    }
    const auto* found = std::find_if(figure_names.begin(), figure_names.end(),
                                     [&](const FigureName& figure) { return figure.name == metric; });
    if (found == figure_names.end()) return std::nullopt;
    const double value = errors.*(found->figure);
    return finite(metric == "bias" ? std::abs(value) : value);
}

bool is_metric(std::string_view metric) {
    return metric == "refused" || starts_with(metric, median_prefix) || starts_with(metric, p90_prefix) ||
           std::any_of(figure_names.begin(), figure_names.end(),
                       [&](const FigureName& figure) { return figure.name == metric; });
}

/// Rounded up to four significant digits, after a margin for arithmetic that differs between machines.
double rounded_up(double figure) {
    if (figure <= 0.0) return 0.0;
    const double with_margin = figure * 1.01;
    const double unit = std::pow(10.0, std::floor(std::log10(with_margin)) - 3.0);
    return std::ceil(with_margin / unit) * unit;
}

bool same_place(const Ceiling& a, const Ceiling& b) {
    return a.suite == b.suite && a.data_set == b.data_set && a.split == b.split && a.metric == b.metric;
}

/// Ceilings of suites that have none yet.
void add_missing(const Scoreboard& board, std::vector<Ceiling>& ceilings) {
    const std::size_t known = ceilings.size();
    const auto has_any = [&](const std::string& gpu, const std::string& suite) {
        return std::any_of(ceilings.begin(), ceilings.begin() + static_cast<std::ptrdiff_t>(known),
                           [&](const Ceiling& c) { return c.suite == suite && c.data_set == gpu; });
    };
    const auto add = [&](const std::string& gpu, const std::string& suite, Split split, std::string metric) {
        Ceiling ceiling{suite, gpu, split, std::move(metric), 0.0, 0};
        const auto figure = validate::figure_of(board, ceiling);
        if (!figure) return;
        ceiling.ceiling = ceiling.metric == "refused" ? *figure : rounded_up(*figure);
        ceilings.push_back(ceiling);
    };
    for (const SuiteReport& report : board.suites) {
        if (has_any(report.score.gpu, report.score.suite)) continue;
        for (const Split split : all_splits) {
            for (const char* metric : {"mape", "p90", "short_mean_us", "refused"}) {
                add(report.score.gpu, report.score.suite, split, metric);
            }
        }
    }
    for (const CounterScore& score : board.counters) {
        if (has_any(score.gpu, score.suite)) continue;
        for (const Split split : all_splits) {
            add(score.gpu, score.suite, split, std::string(median_prefix) + score.metric);
        }
    }
}

}  // namespace

std::vector<Ceiling> read_ceilings(std::istream& in, const std::string& name) {
    workloads::CsvTable table(in, name);
    for (const std::string& column : table.columns()) {
        if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
            throw Error(name + " column", column, hw::expected_names(column, columns));
        }
    }
    std::array<std::size_t, columns.size()> at{};
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = table.require(columns[i]);
    std::vector<Ceiling> ceilings;
    workloads::CsvRecord record;
    while (table.next(record)) {
        const std::string where = table.reader().where();
        if (record.size() != table.columns().size()) {
            throw Error(where, fmt::format("{} fields", record.size()), fmt::format("{}", columns.size()));
        }
        Ceiling ceiling{record[at[0]], record[at[1]], parse_split(record[at[2]]),
                        record[at[3]], 0.0,           table.reader().line()};
        if (!is_metric(ceiling.metric)) {
            throw Error(
                where + " column metric", ceiling.metric,
                "mape, median, p90, p95, worst, bias, refused, short_mean_us, median:NAME or p90:NAME");
        }
        const std::string& text = record[at[4]];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ceiling.ceiling);
        if (error != std::errc() || end != text.data() + text.size() || !(ceiling.ceiling >= 0.0) ||
            !std::isfinite(ceiling.ceiling)) {
            throw Error(where + " column ceiling", text, "a number of at least 0");
        }
        for (const Ceiling& other : ceilings) {
            if (same_place(other, ceiling)) {
                throw Error(where, ceiling.metric,
                            fmt::format("one ceiling a metric (also on line {})", other.line));
            }
        }
        ceilings.push_back(ceiling);
    }
    return ceilings;
}

std::string write_ceilings(const std::vector<Ceiling>& ceilings) {
    std::string out = "suite,data_set,split,metric,ceiling\n";
    for (const Ceiling& c : ceilings) {
        workloads::append_csv_record(out, {c.suite, c.data_set, std::string(to_string(c.split)), c.metric,
                                           fmt::format("{:.6g}", c.ceiling)});
    }
    return out;
}

std::optional<double> figure_of(const Scoreboard& board, const Ceiling& ceiling) {
    const std::string_view metric = ceiling.metric;
    const auto split = static_cast<std::size_t>(ceiling.split);
    for (const CounterScore& score : board.counters) {
        if (score.gpu != ceiling.data_set || score.suite != ceiling.suite) continue;
        if (metric == std::string(median_prefix) + score.metric) return finite(score.splits[split].median);
        if (metric == std::string(p90_prefix) + score.metric) return finite(score.splits[split].p90);
    }
    for (const SuiteReport& report : board.suites) {
        if (report.score.gpu != ceiling.data_set || report.score.suite != ceiling.suite) continue;
        return figure_of(report.score.splits[split].model, metric);
    }
    return std::nullopt;
}

std::vector<Violation> check_ceilings(const Scoreboard& board, const std::vector<Ceiling>& ceilings) {
    std::vector<Violation> violations;
    for (const Ceiling& ceiling : ceilings) {
        const auto figure = figure_of(board, ceiling);
        if (!figure || *figure > ceiling.ceiling) violations.push_back({ceiling, figure});
    }
    return violations;
}

std::string to_text(const Violation& violation) {
    const Ceiling& c = violation.ceiling;
    const std::string place = fmt::format("{} {} {} {}", c.data_set, c.suite, to_string(c.split), c.metric);
    return violation.figure
               ? fmt::format("{}: {:.6g} is above its ceiling {:.6g}", place, *violation.figure, c.ceiling)
               : fmt::format("{}: no such figure among the recorded rows", place);
}

std::vector<Ceiling> tighten_ceilings(const Scoreboard& board, std::vector<Ceiling> ceilings) {
    for (Ceiling& ceiling : ceilings) {
        const auto figure = figure_of(board, ceiling);
        if (!figure) continue;
        const double lower = ceiling.metric == "refused" ? *figure : rounded_up(*figure);
        ceiling.ceiling = std::min(ceiling.ceiling, lower);
    }
    add_missing(board, ceilings);
    std::stable_sort(ceilings.begin(), ceilings.end(), [](const Ceiling& a, const Ceiling& b) {
        return std::tie(a.data_set, a.suite, a.split) < std::tie(b.data_set, b.suite, b.split);
    });
    return ceilings;
}

}  // namespace warptime::validate
