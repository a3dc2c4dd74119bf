// run: an unmodified CUDA program without a GPU, with the time of everything that it launches and copies.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/run_answer.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/runs/launch_prediction.hpp"
#include "bindings/runs/program_run.hpp"
#include "hw/quantity.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

namespace warptime::cli {

namespace {

using hw::us_per_s;
using runs::LaunchPrediction;
using runs::LaunchRecord;
using runs::RecordKind;

constexpr std::string_view default_gpu = "h200-sxm";
constexpr std::size_t name_width = 40;

/// Records with their predictions; messages are apart.
struct Report {
    std::vector<LaunchRecord> records;
    std::vector<LaunchPrediction> predictions;
    std::vector<std::string> messages;
    std::vector<std::string> counter_names;  ///< in the order of their first appearance
    bool with_counters = false;
};

Report report_of(std::vector<LaunchRecord> records, std::vector<LaunchPrediction> predictions,
                 bool with_counters, bool kernels_only) {
    Report report;
    report.with_counters = with_counters;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool memory = records[i].kind == RecordKind::memcpy || records[i].kind == RecordKind::memset;
        if (memory && kernels_only) {
            continue;
        }
        if (records[i].kind == RecordKind::message) {
            report.messages.push_back(records[i].kernel);
            continue;
        }
        for (const auto& [name, value] : records[i].counters) {
            const auto& known = report.counter_names;
            if (with_counters && std::find(known.begin(), known.end(), name) == known.end()) {
                report.counter_names.push_back(name);
            }
        }
        report.records.push_back(std::move(records[i]));
        report.predictions.push_back(std::move(predictions[i]));
    }
    return report;
}

std::string name_of(const LaunchRecord& record) {
    return record.kind == RecordKind::kernel ? record.kernel
                                             : fmt::format("{} {} bytes", record.link, record.bytes);
}

double share_of_line(const LaunchPrediction& prediction, std::size_t line) {
    return line < prediction.line_shares.size() ? prediction.line_shares[line] : 0.0;
}

std::string counter_text(const LaunchRecord& record, const std::string& name) {
    const auto found = std::find_if(record.counters.begin(), record.counters.end(),
                                    [&name](const auto& counter) { return counter.first == name; });
    return found == record.counters.end() ? std::string{} : fmt::format("{:.0f}", found->second);
}

std::string csv_text(const Report& report) {
    workloads::CsvRecord header{"launch",  "kind",   "kernel",  "grid",    "block",    "dynamic_shared",
                                "time_us", "low_us", "high_us", "limiter", "coverage", "error"};
    header.insert(header.end(), report.counter_names.begin(), report.counter_names.end());
    std::string text;
    workloads::append_csv_record(text, header);
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        const LaunchRecord& record = report.records[i];
        const LaunchPrediction& prediction = report.predictions[i];
        const bool kernel = record.kind == RecordKind::kernel;
        workloads::CsvRecord row{std::to_string(i + 1), std::string(runs::to_string(record.kind)),
                                 name_of(record),       record.grid,
                                 record.block,          kernel ? std::to_string(record.dynamic_shared) : ""};
        if (prediction.estimate) {
            row.push_back(fmt::format("{}", prediction.estimate->time * us_per_s));
            row.push_back(fmt::format("{}", prediction.estimate->low * us_per_s));
            row.push_back(fmt::format("{}", prediction.estimate->high * us_per_s));
            row.emplace_back(to_string(prediction.estimate->limiter));
        } else {
            row.insert(row.end(), 4, "");
        }
        row.push_back(fmt::format("{}", record.coverage));
        row.push_back(prediction.error);
        for (const std::string& name : report.counter_names) {
            row.push_back(counter_text(record, name));
        }
        workloads::append_csv_record(text, row);
    }
    return text;
}

std::string json_text(const Report& report, const runs::ProgramRun& run, const std::string& gpu) {
    using Object = nlohmann::ordered_json;
    Object launches = Object::array();
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        const LaunchRecord& record = report.records[i];
        const LaunchPrediction& prediction = report.predictions[i];
        Object launch{{"launch", i + 1},
                      {"kind", runs::to_string(record.kind)},
                      {"kernel", name_of(record)},
                      {"grid", record.grid},
                      {"block", record.block},
                      {"dynamic_shared", record.dynamic_shared},
                      {"time_us", nullptr},
                      {"low_us", nullptr},
                      {"high_us", nullptr},
                      {"limiter", nullptr},
                      {"coverage", record.coverage},
                      {"error", prediction.error}};
        if (prediction.estimate) {
            launch["time_us"] = prediction.estimate->time * us_per_s;
            launch["low_us"] = prediction.estimate->low * us_per_s;
            launch["high_us"] = prediction.estimate->high * us_per_s;
            launch["limiter"] = to_string(prediction.estimate->limiter);
        }
        if (report.with_counters) {
            launch["counters"] = Object::object();
            for (const auto& [name, value] : record.counters) {
                launch["counters"][name] = value;
            }
        }
        if (!record.lines.empty()) {
            Object lines = Object::array();
            for (std::size_t l = 0; l < record.lines.size(); ++l) {
                const runs::LineRecord& line = record.lines[l];
                lines.push_back({{"time_share", share_of_line(prediction, l)},
                                 {"file", line.file},
                                 {"line", line.line},
                                 {"instructions", line.instructions},
                                 {"requests", line.requests},
                                 {"sectors", line.sectors},
                                 {"passes", line.passes}});
            }
            launch["lines"] = std::move(lines);
        }
        launches.push_back(std::move(launch));
    }
    const Object object{{"schema", "warptime.run/1"},
                        {"gpu", gpu},
                        {"exit_code", run.exit_code},
                        {"messages", report.messages},
                        {"launches", std::move(launches)}};
    return object.dump(2) + "\n";
}

std::string shortened(const std::string& name) {
    return name.size() <= name_width ? name : name.substr(0, name_width - 3) + "...";
}

std::string table_text(const Report& report) {
    std::string text =
        fmt::format("{:>6} {:<{}} {:>14} {:>12} {:>11} {:>11} {:>11}  {}\n", "launch", "kernel", name_width,
                    "grid", "block", "time us", "low", "high", "limiter");
    const auto out = std::back_inserter(text);
    double total = 0.0;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        const LaunchRecord& record = report.records[i];
        const LaunchPrediction& prediction = report.predictions[i];
        fmt::format_to(out, "{:>6} {:<{}} {:>14} {:>12} ", i + 1,
                       shortened(record.kind == RecordKind::kernel
                                     ? record.kernel
                                     : fmt::format("{} {}", runs::to_string(record.kind), name_of(record))),
                       name_width, record.grid, record.block);
        if (prediction.estimate) {
            total += prediction.estimate->time;
            fmt::format_to(out, "{:>11.2f} {:>11.2f} {:>11.2f}  {}", prediction.estimate->time * us_per_s,
                           prediction.estimate->low * us_per_s, prediction.estimate->high * us_per_s,
                           to_string(prediction.estimate->limiter));
            if (record.coverage < 1.0) {
                fmt::format_to(out, " ({:.2g} % of the grid was run)", 100.0 * record.coverage);
            }
            text += '\n';
        } else {
            ++failed;
            fmt::format_to(out, "{:>11}  {}\n", "-", prediction.error);
        }
    }
    fmt::format_to(out, "{} launches, copies and memsets, {:.2f} us in all", report.records.size(),
                   total * us_per_s);
    text += failed == 0 ? "\n" : fmt::format("; {} without a time\n", failed);
    return text;
}

std::string counters_text(const Report& report) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        if (report.records[i].counters.empty()) {
            continue;
        }
        fmt::format_to(out, "\ncounters of launch {}, {}\n", i + 1, report.records[i].kernel);
        for (const auto& [name, value] : report.records[i].counters) {
            fmt::format_to(out, "  {:<68} {:>16.0f}\n", name, value);
        }
    }
    return text;
}

/// Lines of each launch, and their shares of its time and of its warp-instructions.
std::string lines_text(const Report& report) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        const LaunchRecord& record = report.records[i];
        if (record.kind != RecordKind::kernel) {
            continue;
        }
        fmt::format_to(out, "\nlines of launch {}, {}\n", i + 1, record.kernel);
        if (record.lines.empty()) {
            text += "  none: the program was compiled without -lineinfo\n";
            continue;
        }
        double all = 0.0;
        for (const runs::LineRecord& line : record.lines) {
            all += line.instructions;
        }
        fmt::format_to(out, "  {:>7} {:>7} {:>14} {:>14} {:>14} {:>14}  {}\n", "time", "of all",
                       "instructions", "requests", "sectors", "bank passes", "line");
        for (std::size_t l = 0; l < record.lines.size(); ++l) {
            const runs::LineRecord& line = record.lines[l];
            fmt::format_to(out, "  {:>5.1f} % {:>5.1f} % {:>14.0f} {:>14.0f} {:>14.0f} {:>14.0f}  {}:{}\n",
                           100.0 * share_of_line(report.predictions[i], l),
                           100.0 * line.instructions / std::max(all, 1.0), line.instructions, line.requests,
                           line.sectors, line.passes, line.file, line.line);
        }
    }
    return text;
}

std::optional<std::size_t> launches_of(const Arguments& arguments) {
    const std::optional<std::string> given = arguments.get("launches");
    if (!given) {
        return std::nullopt;
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), number);
    if (error != std::errc() || end != given->data() + given->size() || number == 0) {
        throw UsageError("launches", *given, "a whole number of at least 1");
    }
    return number;
}

int exit_code_of(const Report& report, const runs::ProgramRun& run) {
    const auto predicted = std::count_if(report.predictions.begin(), report.predictions.end(),
                                         [](const LaunchPrediction& p) { return p.estimate.has_value(); });
    if (predicted == 0) {
        return exit_cannot_predict;
    }
    const bool whole = static_cast<std::size_t>(predicted) == report.predictions.size();
    return whole && run.exit_code == 0 ? exit_fine : exit_some_rows_failed;
}

/// Makes the folder for descriptions before the program runs, so that a folder that cannot be made costs
/// nothing.
std::optional<std::filesystem::path> folder_of(const Arguments& arguments) {
    const std::optional<std::string> given = arguments.get("descriptions");
    if (!given) return std::nullopt;
    std::error_code error;
    std::filesystem::create_directories(*given, error);
    if (!std::filesystem::is_directory(*given)) {
        throw UsageError("descriptions", *given, "a folder that exists or can be made");
    }
    return *given;
}

/// Writes each kernel's description by the number of its launch.
void write_descriptions(const Report& report, const std::filesystem::path& folder) {
    for (std::size_t i = 0; i < report.records.size(); ++i) {
        if (report.records[i].description.empty()) continue;
        OutputFile file((folder / fmt::format("{:03}.kernel", i + 1)).string());
        file.write(report.records[i].description);
        file.commit();
    }
}

/// A finished run: the program's end, and its launches with their times.
struct Finished {
    runs::ProgramRun run;
    Report report;
    std::string gpu;
};

void print_messages(const Finished& finished) {
    for (const std::string& message : finished.report.messages) {
        print_message(message);
    }
    const runs::ProgramRun& run = finished.run;
    if (run.exit_code != 0) {
        print_message(run.ending.empty() ? fmt::format("the program exited with code {}", run.exit_code)
                                         : fmt::format("the program ended by {}", run.ending));
    }
    if (finished.report.records.empty()) {
        print_message("the program launched no kernel that was asked for and copied nothing");
    }
}

Finished run_and_predict(const Arguments& arguments) {
    runs::ProgramOptions options;
    options.command = arguments.all("program");
    if (options.command.empty()) {
        throw UsageError("program", "", "-- and the command line of a CUDA program");
    }
    options.kernel = arguments.get("kernel").value_or("");
    options.launches = launches_of(arguments);
    options.whole = arguments.has("whole");
    options.lines = arguments.has("lines");
    const model::prediction::Conditions conditions = read_conditions(arguments);
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    options.sheet = arguments.get("gpu").value_or(std::string(default_gpu));
    const hw::Gpu gpu = load_requested_gpu(options.sheet, read_settings(arguments));
    Finished finished;
    finished.gpu = gpu.id;
    finished.run = as_usage([&] { return runs::run_program(options, gpu); });
    std::vector<LaunchPrediction> predictions =
        runs::predict_launches(finished.run.records, *engine, gpu, conditions);
    finished.report =
        report_of(std::move(finished.run.records), std::move(predictions), arguments.has("counters"),
                  !options.kernel.empty() || options.launches.has_value());
    return finished;
}

int run_run(const Arguments& arguments) {
    std::optional<OutputFile> file;
    if (const std::optional<std::string> path = arguments.get("output")) {
        file.emplace(*path);
    }
    const std::optional<std::filesystem::path> folder = folder_of(arguments);
    const Finished finished = run_and_predict(arguments);
    const Report& report = finished.report;
    if (folder) write_descriptions(report, *folder);
    if (file) {
        file->write(csv_text(report));
        file->commit();
    }
    if (arguments.has("json")) {
        print(json_text(report, finished.run, finished.gpu));
    } else {
        print(table_text(report) + (report.with_counters ? counters_text(report) : "") +
              (arguments.has("lines") ? lines_text(report) : ""));
    }
    print_messages(finished);
    return exit_code_of(report, finished.run);
}

}  // namespace

RunAnswer answer_run(const Arguments& arguments) {
    const Finished finished = run_and_predict(arguments);
    print_messages(finished);
    return {json_text(finished.report, finished.run, finished.gpu),
            exit_code_of(finished.report, finished.run)};
}

Command run_command() {
    CommandSpec spec{"run",
                     "Run a CUDA program without a GPU and predict what it launches; its host code runs here",
                     "warptime run --gpu h200-sxm -o launches.csv -- ./program arguments",
                     predicting_options(),
                     {},
                     "",
                     "program"};
    spec.options.push_back(
        {"kernel", "Report only kernels whose name matches, and no copies", OptionKind::value, "REGEX"});
    spec.options.push_back(
        {"launches", "Report the first N launches, and no copies", OptionKind::value, "N"});
    spec.options.push_back({"whole", "Interpret every CTA, so that all results are right", OptionKind::flag});
    spec.options.push_back({"lines", "Count by line of source (compile with -lineinfo)", OptionKind::flag});
    spec.options.push_back({"counters", "Also the counters, by Nsight Compute's names", OptionKind::flag});
    spec.options.push_back({"descriptions",
                            "Folder for the description of each launch, as predict kernel reads it",
                            OptionKind::value, "DIR"});
    spec.options.push_back({"output", "CSV file of the launches", OptionKind::value, "FILE", 'o'});
    return {std::move(spec), run_run};
}

}  // namespace warptime::cli
