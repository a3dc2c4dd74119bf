// batch: one prediction a row of a CSV file, rows streamed, the output file whole or absent.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/batch_predictor.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace warptime::cli {

namespace {

constexpr std::array<std::string_view, 5> result_columns{"time_us", "low_us", "high_us", "limiter", "error"};
constexpr double us_per_s = 1e6;

struct Count {
    std::int64_t rows = 0;
    std::int64_t failed = 0;
};

void append_header(std::string& text, const workloads::CsvRecord& columns) {
    workloads::CsvRecord header = columns;
    header.insert(header.end(), result_columns.begin(), result_columns.end());
    workloads::append_csv_record(text, header);
}

// The input's cells, then the results; a row that failed has only the last.
void append_row(std::string& text, BatchPredictor& predictor, const workloads::CsvTable& table,
                const workloads::CsvRecord& row, Count& count) {
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
        workloads::append_csv_field(text, i < row.size() ? row[i] : "");
        text += ',';
    }
    ++count.rows;
    try {
        const auto answer = predictor.predict(row, table.reader().where());
        fmt::format_to(std::back_inserter(text), "{},{},{},{},\n", answer.time * us_per_s,
                       answer.low * us_per_s, answer.high * us_per_s, to_string(answer.limiter));
    } catch (const Error& error) {
        ++count.failed;
        text += ",,,,";
        workloads::append_csv_field(text, error.what());
        text += '\n';
    }
}

Count predict_rows(workloads::CsvTable& table, BatchPredictor& predictor, OutputFile& output) {
    constexpr std::size_t flush_at = std::size_t{1} << 16;
    Count count;
    std::string text;
    append_header(text, table.columns());
    workloads::CsvRecord row;
    while (as_usage([&] { return table.next(row); })) {
        append_row(text, predictor, table, row, count);
        if (text.size() >= flush_at) {
            output.write(text);
            text.clear();
        }
    }
    output.write(text);
    output.commit();
    return count;
}

int run(const Arguments& arguments) {
    const std::string input = arguments.get("cases").value_or("");
    const std::string output_path = arguments.get("output").value_or("-");
    if (input.empty()) {
        throw UsageError("cases", "", "a CSV file, or - for stdin");
    }
    if (arguments.has("json") && output_path == "-") {
        throw UsageError("output", "-", "a file, because with --json stdout holds the summary");
    }
    std::ifstream file;
    if (input != "-") {
        // A folder opens as a stream and fails only when read.
        std::error_code ignored;
        file.open(input, std::ios::binary);
        if (!file || std::filesystem::is_directory(input, ignored)) {
            throw UsageError("cases", input, "a file that can be read");
        }
    }
    std::istream& in = input == "-" ? std::cin : file;
    workloads::CsvTable table =
        as_usage([&] { return workloads::CsvTable(in, input == "-" ? "stdin" : input); });
    std::vector<ColumnRole> roles = roles_of(table);
    BatchDefaults defaults{arguments.get("gpu").value_or(""),
                           arguments.get("engine").value_or(std::string(default_engine)),
                           read_conditions(arguments), read_settings(arguments)};
    if (defaults.gpu.empty() && table.find("gpu") == workloads::CsvTable::npos) {
        throw UsageError("gpu", "", "--gpu with a sheet id or a path, or a column gpu");
    }
    BatchPredictor predictor(table.columns(), std::move(roles), std::move(defaults));
    OutputFile output(output_path);
    const Count count = predict_rows(table, predictor, output);
    if (arguments.has("json")) {
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
         "default, a column that begins with _ passes through",
         OptionKind::positional, "FILE|-"});
    spec.options.push_back(
        {"output", "Where the predictions go; default: stdout", OptionKind::value, "FILE|-", 'o'});
    return {std::move(spec), run};
}

}  // namespace warptime::cli
