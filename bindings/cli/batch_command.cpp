// batch: one prediction a row of a CSV file, rows streamed, the output file whole or absent.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/batch_predictor.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace warptime::cli {

namespace {

using hw::us_per_s;

struct Count {
    std::int64_t rows = 0;
    std::int64_t failed = 0;
};

/// The prediction of a row, or the reason for its failure.
struct Outcome {
    std::optional<BatchAnswer> answer;
    std::string error;
};

Outcome outcome_of(BatchPredictor& predictor, const workloads::CsvTable& table,
                   const workloads::CsvRecord& row) {
    try {
        return {predictor.predict(row, table.reader().where()), ""};
    } catch (const Error& error) {
        return {std::nullopt, error.what()};
    }
}

/// A column of the input that the output also has.
struct KeptColumn {
    std::size_t index;
    std::string name;
};

/// Every column of the input except results of an earlier run.
std::vector<KeptColumn> kept_columns(const workloads::CsvTable& table,
                                     const std::vector<BatchColumnRole>& columns) {
    std::vector<KeptColumn> kept;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].role != ColumnRole::result) {
            kept.push_back({i, table.columns()[i]});
        }
    }
    return kept;
}

void append_csv_header(std::string& text, const std::vector<KeptColumn>& kept) {
    workloads::CsvRecord header;
    for (const KeptColumn& column : kept) {
        header.push_back(column.name);
    }
    header.insert(header.end(), result_columns.begin(), result_columns.end());
    workloads::append_csv_record(text, header);
}

std::string_view cell_of(const workloads::CsvRecord& row, const KeptColumn& column) {
    return column.index < row.size() ? std::string_view(row[column.index]) : "";
}

void append_csv_row(std::string& text, const std::vector<KeptColumn>& kept, const workloads::CsvRecord& row,
                    const Outcome& outcome) {
    for (const KeptColumn& column : kept) {
        workloads::append_csv_field(text, cell_of(row, column));
        text += ',';
    }
    if (outcome.answer) {
        const auto& [estimate, status] = *outcome.answer;
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{},\n", estimate.time * us_per_s,
                       estimate.low * us_per_s, estimate.high * us_per_s, to_string(estimate.limiter),
                       to_string(status));
    } else {
        text += ",,,,,";
        workloads::append_csv_field(text, outcome.error);
        text += '\n';
    }
}

/// Cells of the input stay text; a missing result is null.
void append_json_row(std::string& text, const std::vector<KeptColumn>& kept, const workloads::CsvRecord& row,
                     const Outcome& outcome) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const KeptColumn& column : kept) {
        object[column.name] = cell_of(row, column);
    }
    for (const std::string_view name : result_columns) {
        object[std::string(name)] = nullptr;
    }
    if (outcome.answer) {
        const auto& [estimate, status] = *outcome.answer;
        object["time_us"] = estimate.time * us_per_s;
        object["low_us"] = estimate.low * us_per_s;
        object["high_us"] = estimate.high * us_per_s;
        object["limiter"] = to_string(estimate.limiter);
        object["status"] = to_string(status);
    } else {
        object["error"] = outcome.error;
    }
    text += object.dump();
}

/// Writes the rows as CSV, or as a JSON list with one row a line.
Count predict_rows(workloads::CsvTable& table, const std::vector<KeptColumn>& kept, BatchPredictor& predictor,
                   bool as_json, OutputFile& output) {
    constexpr std::size_t flush_at = std::size_t{1} << 16;
    Count count;
    std::string text;
    if (as_json) {
        text += '[';
    } else {
        append_csv_header(text, kept);
    }
    workloads::CsvRecord row;
    while (as_usage([&] { return table.next(row); })) {
        const Outcome outcome = outcome_of(predictor, table, row);
        if (as_json) {
            text += count.rows == 0 ? "\n" : ",\n";
            append_json_row(text, kept, row, outcome);
        } else {
            append_csv_row(text, kept, row, outcome);
        }
        ++count.rows;
        count.failed += outcome.answer ? 0 : 1;
        if (text.size() >= flush_at) {
            output.write(text);
            text.clear();
        }
    }
    text += as_json ? "\n]\n" : "";
    output.write(text);
    output.commit();
    return count;
}

int run_batch(const Arguments& arguments) {
    const std::string input = arguments.get("cases").value_or("");
    const std::string output_path = arguments.get("output").value_or("-");
    if (input.empty()) {
        throw UsageError("cases", "", "a CSV file, or - for stdin");
    }
    std::ifstream file;
    if (input != "-") {
        // A folder opens as a stream without an error and fails only at the first read.
        std::error_code ignored;
        file.open(input, std::ios::binary);
        if (!file || std::filesystem::is_directory(input, ignored)) {
            throw UsageError("cases", input, "a file that can be read");
        }
    }
    std::istream& in = input == "-" ? std::cin : file;
    workloads::CsvTable table =
        as_usage([&] { return workloads::CsvTable(in, input == "-" ? "stdin" : input); });
    std::vector<BatchColumnRole> columns = roles_of(table);
    BatchDefaults defaults{arguments.get("gpu").value_or(""),
                           arguments.get("engine").value_or(std::string(default_engine)),
                           read_conditions(arguments), read_settings(arguments)};
    const bool names_gpu = std::any_of(columns.begin(), columns.end(),
                                       [](const BatchColumnRole& c) { return c.role == ColumnRole::gpu; });
    if (defaults.gpu.empty() && !names_gpu) {
        throw UsageError("gpu", "", "--gpu with a sheet id or a path, or a column gpu");
    }
    // With an output file for the rows, JSON holds the summary. Without one, JSON holds the rows.
    const bool as_json = arguments.has("json") && output_path == "-";
    const std::vector<KeptColumn> kept = kept_columns(table, columns);
    BatchPredictor predictor(std::move(columns), std::move(defaults));
    OutputFile output(output_path);
    const Count count = predict_rows(table, kept, predictor, as_json, output);
    if (arguments.has("json") && !as_json) {
        const nlohmann::ordered_json summary{{"schema", "warptime.batch/1"},
                                             {"output", output_path},
                                             {"rows", count.rows},
                                             {"failed", count.failed}};
        print(summary.dump(2) + "\n");
    }
    if (count.failed > 0) {
        print_message(
            fmt::format("{} of {} rows failed; their column error says why", count.failed, count.rows));
        return exit_some_rows_failed;
    }
    return exit_fine;
}

}  // namespace

Command batch_command() {
    CommandSpec spec{"batch",
                     "One prediction a row of a CSV file",
                     "warptime batch cases.csv --gpu h200-sxm -o predictions.csv",
                     predicting_options(),
                     {},
                     ""};
    spec.options.push_back(
        {"cases",
         "Columns: op, the operator's parameters, conditions, gpu, engine; an empty cell is the "
         "default, a column that begins with _ passes through, results of an earlier run are replaced",
         OptionKind::positional, "FILE|-"});
    spec.options.push_back(
        {"output", "Where the predictions go; default: stdout", OptionKind::value, "FILE|-", 'o'});
    return {std::move(spec), run_batch};
}

}  // namespace warptime::cli
