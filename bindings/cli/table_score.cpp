// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/table_score.hpp"

#include "bindings/cli/batch_predictor.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/quantity.hpp"
#include "validate/statistics.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warptime::cli {

namespace {

using hw::us_per_s;
using Json = nlohmann::ordered_json;

struct TimeColumn {
    std::string_view name;
    double seconds;
};
constexpr std::array<TimeColumn, 4> time_columns{
    {{"time_us", 1e-6}, {"time_ms", 1e-3}, {"time_s", 1.0}, {"time_ns", 1e-9}}};

struct ScoredRow {
    std::string where, text;
    double measured = 0.0;
    model::prediction::Estimate estimate;

    [[nodiscard]] double ratio() const { return estimate.time / measured; }
    [[nodiscard]] double error() const { return std::abs(ratio() - 1.0); }
    [[nodiscard]] bool in_band() const { return measured >= estimate.low && measured <= estimate.high; }
};

struct Scored {
    std::vector<ScoredRow> rows;
    std::vector<std::string> failures;
    std::size_t failed = 0;
};

double measured_time(const std::string& cell, const std::string& where, const TimeColumn& column) {
    double value = 0.0;
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    if (error != std::errc{} || stop != end || !(value > 0.0) || !std::isfinite(value)) {
        throw Error(fmt::format("{} {}", where, column.name), cell, "a positive number");
    }
    return value * column.seconds;
}

/// The columns as `warptime batch` knows them: the measured time passes, and op is gemm where it is missing.
std::vector<BatchColumnRole> columns_of(const workloads::CsvTable& table, std::size_t measured) {
    std::string header;
    workloads::CsvRecord names = table.columns();
    names[measured] = "_measured";
    if (table.find("op") == workloads::CsvTable::npos) names.push_back("op");
    workloads::append_csv_record(header, names);
    std::istringstream text(header);
    return roles_of(workloads::CsvTable(text, table.reader().name()));
}

Scored score_rows(workloads::CsvTable& table, std::size_t measured, const TimeColumn& unit,
                  const Arguments& arguments) {
    const bool adds_op = table.find("op") == workloads::CsvTable::npos;
    BatchDefaults defaults{required_gpu(arguments),
                           arguments.get("engine").value_or(std::string(default_engine)),
                           {},
                           read_settings(arguments)};
    BatchPredictor predictor(columns_of(table, measured), std::move(defaults));
    constexpr std::size_t shown_failures = 5;
    Scored scored;
    workloads::CsvRecord row;
    while (as_usage([&] { return table.next(row); })) {
        const std::string where = table.reader().where();
        if (row.size() != table.columns().size()) {
            throw UsageError(where, fmt::format("{} fields", row.size()),
                             fmt::format("{} fields, as its first line has (a table that was cut off?)",
                                         table.columns().size()));
        }
        std::string text;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i != measured && !row[i].empty())
                text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.columns()[i], row[i]);
        }
        const double time = as_usage([&] { return measured_time(row[measured], where, unit); });
        if (adds_op) row.push_back("gemm");
        try {
            scored.rows.push_back({where, std::move(text), time, predictor.predict(row, where).estimate});
        } catch (const Error& error) {
            if (++scored.failed <= shown_failures)
                scored.failures.push_back(fmt::format("{}: {}", where, error.what()));
        }
    }
    return scored;
}

struct Summary {
    std::size_t rows = 0;
    double mape = 0.0, median = 0.0, p90 = 0.0, bias = 0.0, in_band = 0.0;
};

Summary summary_of(const std::vector<ScoredRow>& rows) {
    std::vector<double> errors;
    Summary summary;
    for (const ScoredRow& row : rows) {
        errors.push_back(row.error());
        summary.bias += row.ratio() - 1.0;
        summary.in_band += row.in_band() ? 1.0 : 0.0;
    }
    summary.rows = rows.size();
    if (rows.empty()) return summary;
    const auto count = static_cast<double>(rows.size());
    summary.mape = validate::mean(errors);
    summary.median = validate::median(errors);
    constexpr double most = 0.9;
    summary.p90 = validate::quantile(errors, most);
    summary.bias /= count;
    summary.in_band /= count;
    return summary;
}

constexpr double percent = 100.0;

Json json_of(const Summary& s) {
    return {{"rows", s.rows}, {"mape", s.mape}, {"median", s.median},
            {"p90", s.p90},   {"bias", s.bias}, {"in_band_80", s.in_band}};
}

std::string line_of(const char* name, const Summary& s) {
    if (s.rows == 0) return fmt::format("{:<12}{:>6}\n", name, 0);
    return fmt::format("{:<12}{:>6}{:>9.2f} %{:>9.2f} %{:>9.2f} %{:>+9.2f} %{:>9.0f} %\n", name, s.rows,
                       percent * s.mape, percent * s.median, percent * s.p90, percent * s.bias,
                       percent * s.in_band);
}

/// Median of measured over predicted times.
double median_ratio(const std::vector<ScoredRow>& rows) {
    std::vector<double> ratios;
    ratios.reserve(rows.size());
    for (const ScoredRow& row : rows) ratios.push_back(1.0 / row.ratio());
    return validate::median(ratios);
}

std::size_t worst_shown(const Arguments& arguments) {
    const std::string text = arguments.get("worst").value_or("3");
    if (text == "0") return 0;
    return as_usage([&] { return static_cast<std::size_t>(workloads::parse_size(text, "worst")); });
}

}  // namespace

std::optional<double> seconds_in(std::string_view column) {
    for (const TimeColumn& known : time_columns) {
        if (known.name == column) return known.seconds;
    }
    return std::nullopt;
}

std::string likelier_unit(std::string_view given, double measured_over_predicted) {
    const auto seconds = seconds_in(given);
    if (!seconds || !(measured_over_predicted > 0.0)) return "";
    // Predictions that are wrong by this factor are rarer than wrong units.
    constexpr double far = 30.0;
    if (measured_over_predicted < far && measured_over_predicted > 1.0 / far) return "";
    std::string best;
    double least = std::log(far);
    for (const TimeColumn& known : time_columns) {
        const double off = std::abs(std::log(measured_over_predicted * known.seconds / *seconds));
        if (off < least) {
            least = off;
            best = known.name;
        }
    }
    return best == given ? "" : best;
}

bool names_table(const Arguments& arguments) {
    const std::string data = arguments.get("data").value_or("");
    return data.ends_with(".csv") && !arguments.has("live") && !arguments.has("recorded");
}

int score_table(const Arguments& arguments) {
    for (const char* option :
         {"budget", "sources", "probes", "calibration", "suite", "check", "tighten", "rows", "held_out",
          "compiled", "kernels_that_ran", "hashes", "unchanged", "sample"}) {
        if (arguments.has(option)) {
            throw UsageError(
                option, arguments.get(option).value_or(""),
                "no such option with --data TABLE.csv, which takes --gpu, --set, --engine, --worst "
                "and --json");
        }
    }
    const std::string path = *arguments.get("data");
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path, ignored)) {
        throw UsageError("data", path, "a table that can be read");
    }
    workloads::CsvTable table = as_usage([&] { return workloads::CsvTable(file, path); });
    std::size_t measured = workloads::CsvTable::npos;
    const TimeColumn* unit = nullptr;
    for (const TimeColumn& known : time_columns) {
        const std::size_t at = table.find(known.name);
        if (at == workloads::CsvTable::npos) continue;
        if (unit != nullptr)
            throw UsageError(path + " column", std::string(known.name), "one column with measured times");
        unit = &known;
        measured = at;
    }
    if (unit == nullptr) {
        throw UsageError(path + " column", "no measured time",
                         "m,n,k,dtype and the measured time as time_us, time_ms, time_s or time_ns");
    }
    const Scored scored = score_rows(table, measured, *unit, arguments);
    if (scored.rows.empty()) {
        throw UsageError(path, scored.failures.empty() ? "no rows" : scored.failures.front(),
                         "at least one row that can be predicted");
    }
    const double ratio = median_ratio(scored.rows);
    if (const std::string likelier = likelier_unit(unit->name, ratio); !likelier.empty()) {
        throw UsageError(
            fmt::format("{} {}", path, unit->name),
            fmt::format("times whose median is {:.3g} of the predicted ones", ratio),
            fmt::format("times in the unit of the column; are these in {}? Then name the column {}",
                        likelier.substr(std::string_view("time_").size()), likelier));
    }
    std::vector<ScoredRow> from_10us, shorter;
    constexpr double short_time = 10e-6;
    for (const ScoredRow& row : scored.rows) (row.measured < short_time ? shorter : from_10us).push_back(row);
    std::vector<ScoredRow> worst = scored.rows;
    const std::size_t count = std::min(worst.size(), worst_shown(arguments));
    std::stable_sort(worst.begin(), worst.end(),
                     [](const ScoredRow& a, const ScoredRow& b) { return a.error() > b.error(); });
    worst.resize(count);
    if (arguments.has("json")) {
        Json json{{"schema", "warptime.table_score/1"},
                  {"table", path},
                  {"gpu", required_gpu(arguments)},
                  {"failed", scored.failed},
                  {"all", json_of(summary_of(scored.rows))},
                  {"from_10us", json_of(summary_of(from_10us))},
                  {"below_10us", json_of(summary_of(shorter))}};
        json["worst"] = Json::array();
        for (const ScoredRow& row : worst) {
            json["worst"].push_back({{"row", row.where},
                                     {"case", row.text},
                                     {"measured_us", row.measured * us_per_s},
                                     {"predicted_us", row.estimate.time * us_per_s}});
        }
        json["failures"] = scored.failures;
        print(json.dump(2) + "\n");
    } else {
        std::string text =
            fmt::format("{} on {}\n{:<12}{:>6}{:>11}{:>11}{:>11}{:>11}{:>11}\n", path,
                        required_gpu(arguments), "", "rows", "MAPE", "median", "p90", "bias", "in band");
        text += line_of("all", summary_of(scored.rows));
        text += line_of("from 10 us", summary_of(from_10us));
        text += line_of("shorter", summary_of(shorter));
        for (const ScoredRow& row : worst) {
            text += fmt::format("worst: {:+.1f} % {} ({}: measured {:.4g} us, predicted {:.4g} us)\n",
                                percent * (row.ratio() - 1.0), row.text, row.where, row.measured * us_per_s,
                                row.estimate.time * us_per_s);
        }
        print(text);
    }
    for (const std::string& failure : scored.failures) print_message(failure);
    if (scored.failed > 0) {
        print_message(fmt::format("{} of {} rows cannot be predicted", scored.failed,
                                  scored.failed + scored.rows.size()));
        return exit_some_rows_failed;
    }
    return exit_fine;
}

}  // namespace warptime::cli
