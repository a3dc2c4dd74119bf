// Turns rows into named numbers, numbers into values, and values into a statistic.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/isolated.hpp"

#include "hw/error.hpp"
#include "hw/unit.hpp"
#include "validate/calibrate/expression.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_params.hpp"
#include "validate/split.hpp"
#include "validate/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <vector>

namespace warptime::validate::calibrate {
namespace {

/// Normal quantile of 90 %.
constexpr double deviations_80 = 1.2815515655446004;

/// One case: its words and its numbers.
struct Case {
    const RecordedRow* row = nullptr;
    std::map<std::string, std::string, std::less<>> words;
    std::map<std::string, double, std::less<>> numbers;
    std::string steps;
};

std::optional<double> number_of(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool matches(const Selection& selection, const RecordedRow& row) {
    if (row.suite != selection.suite || (!selection.op.empty() && row.op != selection.op)) return false;
    return split_of(case_key(row.op, row.params)) == Split::fit;
}

/// The cases of a selection that have all its quantities, in the order of the rows.
std::vector<Case> cases_of(const Selection& selection, std::span<const RecordedRow* const> rows) {
    std::vector<Case> cases;
    std::map<std::string, std::size_t> index;
    for (const RecordedRow* row : rows) {
        if (!matches(selection, *row)) continue;
        const auto quantity = std::find_if(selection.quantities.begin(), selection.quantities.end(),
                                           [&](const auto& q) { return q.second == row->quantity; });
        if (quantity == selection.quantities.end()) continue;
        RecordedRow key = *row;
        key.quantity.clear();
        const auto [at, is_new] = index.emplace(identity_of(key), cases.size());
        if (is_new) {
            Case fresh;
            fresh.row = row;
            fresh.words = parse_params(row->params);
            for (const auto& [name, word] : fresh.words) {
                if (const auto number = number_of(word)) fresh.numbers[name] = *number;
            }
            fresh.words.insert({{"cache", row->cache},
                                {"duty", row->duty},
                                {"data", row->data},
                                {"implementation", row->implementation},
                                {"method", row->method},
                                {"date", row->date}});
            for (const auto& [name, number] : selection.defaults) fresh.numbers.emplace(name, number);
            fresh.steps = row->steps;
            cases.push_back(std::move(fresh));
        }
        cases[at->second].numbers[quantity->first] = row->value;
    }
    const auto lacks = [&](const Case& one) {
        return std::any_of(selection.quantities.begin(), selection.quantities.end(),
                           [&](const auto& q) { return one.numbers.find(q.first) == one.numbers.end(); }) ||
               std::any_of(selection.where.begin(), selection.where.end(), [&](const auto& w) {
                   const auto word = one.words.find(w.first);
                   return word == one.words.end() || word->second != w.second;
               });
    };
    cases.erase(std::remove_if(cases.begin(), cases.end(), lacks), cases.end());
    return cases;
}

/// A case for every match of the pattern in its steps, with the groups as s1, s2, ...
std::vector<Case> matched_steps(const std::vector<Case>& cases, const std::string& pattern) {
    const std::regex sought(pattern);
    std::vector<Case> found;
    for (const Case& one : cases) {
        for (std::sregex_iterator match(one.steps.begin(), one.steps.end(), sought), end; match != end;
             ++match) {
            Case here = one;
            for (std::size_t group = 1; group < match->size(); ++group) {
                if (const auto number = number_of((*match)[group].str()))
                    here.numbers[fmt::format("s{}", group)] = *number;
            }
            found.push_back(std::move(here));
        }
    }
    return found;
}

/// A row's numbers by their names in formulas.
class Scope {
  public:
    Scope(const Case& one, const hw::Gpu& gpu, std::optional<double> reference)
        : case_(&one), gpu_(&gpu), reference_(reference) {}

    [[nodiscard]] double of(const std::string& formula) const {
        return evaluate(formula, [this](std::string_view name) { return number(name); });
    }

    void set_x(double x) { x_ = x; }

  private:
    [[nodiscard]] double number(std::string_view name) const {
        if (name.substr(0, 4) == "gpu.") return hw::key_value(*gpu_, hw::key_index(name));
        if (name == "reference" && reference_) return *reference_;
        if (name == "x" && x_) return *x_;
        const auto found = case_->numbers.find(name);
        if (found == case_->numbers.end())
            throw Error("formula", std::string(name), "a parameter of the row, or gpu.<key>");
        return found->second;
    }

    const Case* case_;
    const hw::Gpu* gpu_;
    std::optional<double> reference_;
    std::optional<double> x_;
};

struct Point {
    const RecordedRow* row = nullptr;
    double x = 0.0;
    double y = 0.0;
    bool counts = true;
};

std::vector<Point> points_of(const IsolatedConstant& constant, const Selection& selection,
                             std::span<const RecordedRow* const> rows, const hw::Gpu& gpu,
                             std::optional<double> reference) {
    std::vector<Case> cases = cases_of(selection, rows);
    if (!selection.steps.empty()) cases = matched_steps(cases, selection.steps);
    std::vector<Point> points;
    for (const Case& one : cases) {
        Scope scope(one, gpu, reference);
        if (!selection.condition.empty() && scope.of(selection.condition) == 0.0) continue;
        Point point;
        point.row = one.row;
        point.y = scope.of(selection.value);
        if (!constant.x.empty()) {
            point.x = scope.of(constant.x);
            scope.set_x(point.x);
            point.counts = constant.line_condition.empty() || scope.of(constant.line_condition) != 0.0;
        }
        points.push_back(point);
    }
    return points;
}

/// y = start - fall * x by ordinary least squares.
struct Line {
    double start = 0.0;
    double fall = 0.0;
};

Line line_through(const std::vector<Point>& points) {
    double mean_x = 0.0;
    double mean_y = 0.0;
    for (const Point& point : points) {
        mean_x += point.x / static_cast<double>(points.size());
        mean_y += point.y / static_cast<double>(points.size());
    }
    double xx = 0.0;
    double xy = 0.0;
    for (const Point& point : points) {
        xx += (point.x - mean_x) * (point.x - mean_x);
        xy += (point.x - mean_x) * (point.y - mean_y);
    }
    const double slope = xx > 0.0 ? xy / xx : 0.0;
    return {mean_y - slope * mean_x, -slope};
}

std::vector<Evidence> evidence_of(const IsolatedConstant& constant, const std::vector<Point>& points) {
    std::vector<Evidence> evidence;
    const Line line = constant.x.empty() || points.empty() ? Line{} : line_through(points);
    double largest = -std::numeric_limits<double>::infinity();
    for (const Point& point : points) largest = std::max(largest, point.y);
    for (const Point& point : points) {
        if (!point.counts) continue;
        switch (constant.statistic) {
            case Statistic::median:
                evidence.push_back({point.row, point.y});
                break;
            case Statistic::largest:
                if (point.y == largest) evidence.push_back({point.row, point.y});
                break;
            case Statistic::line_start:
                evidence.push_back({point.row, point.y + line.fall * point.x});
                break;
            case Statistic::line_fall:
                evidence.push_back({point.row, (line.start - point.y) / point.x});
                break;
        }
    }
    return evidence;
}

double deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0.0;
    const double middle = mean(values);
    double sum = 0.0;
    for (const double value : values) sum += (value - middle) * (value - middle);
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::string source_of(const IsolatedConstant& constant) {
    const Selection& first = constant.selections.front();
    return fmt::format("ROWS {}{}{}{}{}", first.suite, first.op.empty() ? "" : " ", first.op,
                       constant.note.empty() ? "" : ", ", constant.note);
}

}  // namespace

Finding find_constant(const IsolatedConstant& constant, std::span<const RecordedRow* const> rows,
                      const hw::Gpu& gpu) {
    const hw::KeyInfo& info = hw::key_info[hw::key_index(constant.key)];
    Finding finding;
    finding.key = constant.key;
    finding.source = source_of(constant);
    try {
        std::optional<double> reference;
        if (!constant.reference.empty()) {
            std::vector<double> values;
            IsolatedConstant plain;
            for (const Point& point : points_of(plain, constant.reference.front(), rows, gpu, std::nullopt))
                values.push_back(point.y);
            if (values.empty()) {
                finding.why = "no rows for its reference";
                return finding;
            }
            reference = median(values);
        }
        std::vector<Point> points;
        for (const Selection& selection : constant.selections) {
            const std::vector<Point> more = points_of(constant, selection, rows, gpu, reference);
            points.insert(points.end(), more.begin(), more.end());
        }
        finding.evidence = evidence_of(constant, points);
        finding.rows = static_cast<int>(finding.evidence.size());
        if (finding.evidence.empty()) {
            finding.why = "no rows";
            return finding;
        }
        const double scale = constant.unit.empty()
                                 ? 1.0
                                 : hw::parse_value("1 " + constant.unit, info.unit, constant.key + " unit");
        std::vector<double> values;
        for (Evidence& one : finding.evidence) {
            one.value *= scale;
            values.push_back(one.value);
        }
        finding.value = median(values);
        finding.half_width = deviations_80 * deviation(values);
        for (const double value : values) {
            finding.residual += std::abs(value - finding.value) / std::abs(finding.value) /
                                static_cast<double>(values.size());
        }
    } catch (const Error& error) {
        throw Error("plan " + constant.key + ": " + error.parameter(), error.value(), error.expected());
    }
    if (!std::isfinite(finding.value) || finding.value < 0.0) {
        finding.why = fmt::format("its rows give {}, which is none",
                                  hw::format_value(std::abs(finding.value), info.unit));
    } else if (finding.half_width > finding.value) {
        finding.why = fmt::format("the interval of its {} rows, {}, is wider than the value, {}",
                                  finding.rows, hw::format_value(finding.half_width, info.unit),
                                  hw::format_value(finding.value, info.unit));
    } else {
        finding.determined = true;
    }
    return finding;
}

}  // namespace warptime::validate::calibrate
