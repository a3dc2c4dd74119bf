// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/measured_table.hpp"

#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/quantity.hpp"
#include "validate/statistics.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace warptime::cli {

namespace {

struct TimeColumn {
    std::string_view name;
    double seconds;
};
constexpr std::array<TimeColumn, 4> time_columns{
    {{"time_us", 1e-6}, {"time_ms", 1e-3}, {"time_s", 1.0}, {"time_ns", 1e-9}}};

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

MeasuredTable rows_of(workloads::CsvTable& table, std::size_t measured, const TimeColumn& unit,
                      const Arguments& arguments) {
    const bool adds_op = table.find("op") == workloads::CsvTable::npos;
    BatchDefaults defaults{required_gpu(arguments),
                           arguments.get("engine").value_or(std::string(default_engine)),
                           {},
                           read_settings(arguments)};
    MeasuredTable scored;
    scored.predictor = std::make_unique<BatchPredictor>(columns_of(table, measured), std::move(defaults));
    constexpr std::size_t shown_failures = 5;
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
            BatchPredictor::Question question = scored.predictor->read(row, where);
            const model::prediction::Estimate estimate =
                question.chip->predictor->evaluate(question.operation, question.conditions);
            scored.rows.push_back({where, std::move(text), time, std::move(question), estimate});
        } catch (const Error& error) {
            if (++scored.failed <= shown_failures)
                scored.failures.push_back(fmt::format("{}: {}", where, error.what()));
        }
    }
    return scored;
}

/// Median of measured over predicted times.
double median_ratio(const std::vector<MeasuredRow>& rows) {
    std::vector<double> ratios;
    ratios.reserve(rows.size());
    for (const MeasuredRow& row : rows) ratios.push_back(1.0 / row.ratio());
    return validate::median(ratios);
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

MeasuredTable read_measured_table(const Arguments& arguments) {
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
    MeasuredTable scored = rows_of(table, measured, *unit, arguments);
    if (scored.rows.empty()) {
        if (scored.failures.empty())
            throw UsageError(path, "no rows", "at least one row that can be predicted");
        throw UsageError(path, fmt::format("{} rows, none of which can be predicted", scored.failed),
                         fmt::format("at least one that can; the first says {}", scored.failures.front()));
    }
    const double ratio = median_ratio(scored.rows);
    if (const std::string likelier = likelier_unit(unit->name, ratio); !likelier.empty()) {
        throw UsageError(
            fmt::format("{} {}", path, unit->name),
            fmt::format("times whose median is {:.3g} of the predicted ones", ratio),
            fmt::format("times in the unit of the column; are these in {}? Then name the column {}",
                        likelier.substr(std::string_view("time_").size()), likelier));
    }
    scored.path = path;
    return scored;
}

}  // namespace warptime::cli
