// Reads, checks and tightens the ceilings.
// SPDX-License-Identifier: Apache-2.0
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

constexpr std::array<std::string_view, 6> columns{"suite", "data_set", "split", "metric", "ceiling", "rows"};
/// Rounded up to four significant digits, after a margin for arithmetic that differs between machines.
double rounded_up(double figure) {
    if (figure <= 0.0) return 0.0;
    const double with_margin = figure * 1.01;
    const double unit = std::pow(10.0, std::floor(std::log10(with_margin)) - 3.0);
    return std::ceil(with_margin / unit) * unit;
}

bool same_place(const FigurePlace& a, const FigurePlace& b) {
    return a.suite == b.suite && a.data_set == b.data_set && a.split == b.split && a.metric == b.metric;
}

double ceiling_for(const Figure& figure, std::string_view metric) {
    if (metric == "refused") return figure.value;
    return std::max(rounded_up(figure.value), figure.good_enough);
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
        Ceiling ceiling{{record[at[0]], record[at[1]], parse_split(record[at[2]]), record[at[3]]},
                        0.0,
                        record[at[5]],
                        table.reader().line()};
        if (!is_metric(ceiling.place.metric)) {
            throw Error(where + " column metric", ceiling.place.metric, std::string(known_metrics()));
        }
        const std::string& text = record[at[4]];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ceiling.ceiling);
        if (error != std::errc() || end != text.data() + text.size() || !(ceiling.ceiling >= 0.0) ||
            !std::isfinite(ceiling.ceiling)) {
            throw Error(where + " column ceiling", text, "a number of at least 0");
        }
        if (ceiling.rows.find(':') == std::string::npos) {
            throw Error(where + " column rows", ceiling.rows, "COUNT:HASH, as --tighten writes it");
        }
        for (const Ceiling& other : ceilings) {
            if (same_place(other.place, ceiling.place)) {
                throw Error(where, ceiling.place.metric,
                            fmt::format("one ceiling a metric (also on line {})", other.line));
            }
        }
        ceilings.push_back(ceiling);
    }
    return ceilings;
}

std::string write_ceilings(const std::vector<Ceiling>& ceilings) {
    std::string out = "suite,data_set,split,metric,ceiling,rows\n";
    for (const Ceiling& c : ceilings) {
        workloads::append_csv_record(
            out, {c.place.suite, c.place.data_set, std::string(to_string(c.place.split)), c.place.metric,
                  fmt::format("{:.6g}", c.ceiling), c.rows});
    }
    return out;
}

std::vector<Violation> check_ceilings(const Scoreboard& board, const std::vector<Ceiling>& ceilings) {
    std::vector<Violation> violations;
    for (const Ceiling& ceiling : ceilings) {
        const auto figure = find_figure(board, ceiling.place);
        if (figure && figure->rows == ceiling.rows && figure->value <= ceiling.ceiling) continue;
        violations.push_back({ceiling, figure});
    }
    return violations;
}

std::string to_text(const Violation& violation) {
    const Ceiling& c = violation.ceiling;
    const std::string place =
        fmt::format("{} {} {} {}", c.place.data_set, c.place.suite, to_string(c.place.split), c.place.metric);
    if (!violation.figure) return place + ": no such figure among the recorded rows";
    if (violation.figure->rows != c.rows) {
        return fmt::format("{}: rows {} are recorded, the ceiling is about {}: set it anew with --tighten",
                           place, violation.figure->rows, c.rows);
    }
    return fmt::format("{}: {:.6g} is above its ceiling {:.6g}", place, violation.figure->value, c.ceiling);
}

std::vector<Ceiling> tighten_ceilings(const Scoreboard& board, std::vector<Ceiling> ceilings) {
    for (Ceiling& ceiling : ceilings) {
        const auto figure = find_figure(board, ceiling.place);
        if (!figure) continue;
        const double present = ceiling_for(*figure, ceiling.place.metric);
        ceiling.ceiling = figure->rows == ceiling.rows ? std::min(ceiling.ceiling, present) : present;
        ceiling.rows = figure->rows;
    }
    for (const FigurePlace& place : default_places(board)) {
        const bool known = std::any_of(ceilings.begin(), ceilings.end(),
                                       [&](const Ceiling& c) { return same_place(c.place, place); });
        const auto figure = find_figure(board, place);
        if (!known && figure)
            ceilings.push_back({place, ceiling_for(*figure, place.metric), figure->rows, 0});
    }
    std::stable_sort(ceilings.begin(), ceilings.end(), [](const Ceiling& a, const Ceiling& b) {
        return std::tie(a.place.data_set, a.place.suite, a.place.split) <
               std::tie(b.place.data_set, b.place.suite, b.place.split);
    });
    return ceilings;
}

}  // namespace warptime::validate
