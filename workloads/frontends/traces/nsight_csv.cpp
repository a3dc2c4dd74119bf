// Reads tables of Nsight Compute: a line a kernel (page raw) or a line a metric (page details).
// Source: Nsight Compute CLI 2025.3, `ncu --csv --page raw` and `--page details`.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/csv.hpp"
#include "workloads/frontends/traces/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

namespace warptime::workloads::traces {

namespace {

constexpr std::string_view duration = "gpu__time_duration.sum";

/// Names of sections' metrics that the page details prints instead of counters.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> spoken_names{{
    {"Duration", "gpu__time_duration.sum"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Waves Per SM", "launch__waves_per_multiprocessor"},
}};

/// Factor to the base unit: us, bytes, Hz, or one.
double factor_of(std::string_view unit) {
    static constexpr std::array<std::pair<std::string_view, double>, 20> units{{
        {"ns", 1e-3},     {"nsecond", 1e-3}, {"us", 1.0},      {"usecond", 1.0}, {"ms", 1e3},
        {"msecond", 1e3}, {"s", 1e6},        {"second", 1e6},  {"Kbyte", 1e3},   {"Mbyte", 1e6},
        {"Gbyte", 1e9},   {"KB", 1e3},       {"MB", 1e6},      {"GB", 1e9},      {"Khz", 1e3},
        {"Mhz", 1e6},     {"Ghz", 1e9},      {"Kbyte/s", 1e3}, {"Mbyte/s", 1e6}, {"Gbyte/s", 1e9},
    }};
    for (const auto& [name, factor] : units) {
        if (unit == name) return factor;
    }
    return 1.0;
}

/// A number with or without separators of thousands.
std::optional<double> number_of(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// "(64, 1, 1)" as "64x1x1".
std::string extents_of(const std::string& text) {
    std::string found;
    for (const char c : text) {
        if (c >= '0' && c <= '9') found.push_back(c);
        if (c == ',') found.push_back('x');
    }
    return found;
}

/// The table without what the profiled program and ncu itself print before it.
std::string table_of(const std::string& text, const std::string& name) {
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        if (line.starts_with("\"ID\",") || line.starts_with("ID,")) return text.substr(begin);
        begin = end + 1;
    }
    const std::string first = text.substr(0, std::min<std::size_t>(text.find('\n'), 60));
    throw Error(name, fmt::format("no line of columns that begins with ID; the first line is {}", first),
                "a trace of torch.profiler (JSON), or a table of `ncu --csv --page raw`");
}

void take_metric(TracedKernel& kernel, std::string_view metric, std::string_view unit, double value) {
    for (const auto& [spoken, counter] : spoken_names) {
        if (metric == spoken) metric = counter;
    }
    value *= factor_of(unit);
    if (metric == duration) kernel.us = value;
    kernel.counters[std::string(metric)] = value;
}

[[noreturn]] void refuse_columns(const std::string& name, std::string_view missing) {
    throw Error(
        name, fmt::format("a table without {}", missing),
        "columns ID, Kernel Name and gpu__time_duration.sum (page raw), or Metric Name, Metric Unit and "
        "Metric Value with a Duration (page details)");
}

}  // namespace

Profile read_nsight_csv(const std::string& text, const std::string& name) {
    std::istringstream stream(table_of(text, name));
    CsvTable table(stream, name, {std::size_t{1} << 16, std::size_t{1} << 22, 1U << 16});
    const std::size_t title = table.find("Kernel Name");
    if (title == CsvTable::npos) refuse_columns(name, "Kernel Name");
    const std::size_t grid = table.find("Grid Size");
    const std::size_t block = table.find("Block Size");
    const std::size_t metric = table.find("Metric Name");
    const bool by_metric = metric != CsvTable::npos;
    const std::size_t value = table.find("Metric Value");
    const std::size_t unit = table.find("Metric Unit");
    if (by_metric && (value == CsvTable::npos || unit == CsvTable::npos))
        refuse_columns(name, "Metric Value");
    if (!by_metric && table.find(duration) == CsvTable::npos) refuse_columns(name, duration);
    const std::size_t board = table.find("device__attribute_display_name");
    Profile profile;
    profile.has_times = false;
    CsvRecord units;
    CsvRecord row;
    std::string last;
    while (table.next(row)) {
        if (row.size() != table.columns().size()) {
            throw Error(table.reader().where(), fmt::format("{} fields", row.size()),
                        fmt::format("{} fields, as many as columns; the file may be truncated",
                                    table.columns().size()));
        }
        if (!by_metric && row.front().empty()) {
            units = row;
            continue;
        }
        if (!by_metric || row.front() != last) {
            last = row.front();
            TracedKernel kernel;
            kernel.name = row[title];
            if (grid != CsvTable::npos) kernel.grid = extents_of(row[grid]);
            if (block != CsvTable::npos) kernel.block = extents_of(row[block]);
            kernel.us = -1.0;
            profile.kernels.push_back(std::move(kernel));
        }
        TracedKernel& kernel = profile.kernels.back();
        if (by_metric) {
            if (const auto found = number_of(row[value])) take_metric(kernel, row[metric], row[unit], *found);
            continue;
        }
        if (board != CsvTable::npos && profile.board.empty()) profile.board = row[board];
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string& column = table.columns()[i];
            if (column.find("__") == std::string::npos) continue;
            if (const auto found = number_of(row[i])) {
                take_metric(kernel, column, i < units.size() ? std::string_view(units[i]) : "", *found);
            }
        }
        if (!units.empty() || kernel.us < 0.0) continue;
        kernel.us *= 1e-3;  // without a line of units, ncu prints base units: nanoseconds
    }
    if (profile.kernels.empty()) throw Error(name, "a table without kernels", "a line for each kernel");
    for (const TracedKernel& kernel : profile.kernels) {
        if (kernel.us < 0.0) refuse_columns(name, fmt::format("a duration of {}", kernel.name));
    }
    return profile;
}

}  // namespace warptime::workloads::traces
