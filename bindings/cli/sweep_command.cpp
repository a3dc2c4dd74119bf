// sweep: one prediction for every combination of values, on all cores, into a file that a later run goes on
// with.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/progress.hpp"
#include "bindings/cli/record_options.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/version.hpp"
#include "bindings/sweeps/rows_file.hpp"
#include "bindings/sweeps/sweep.hpp"
#include "hw/quantity.hpp"
#include "hw/sheet.hpp"
#include "workloads/condition_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace warptime::cli {

namespace {

using Json = nlohmann::ordered_json;
using sweeps::GivenAxis;
using sweeps::Grid;
using sweeps::Rows;

constexpr unsigned most_threads = 1024;

std::string values_meaning(std::string_view meaning) {
    return fmt::format("{}; a list", meaning);
}

CommandSpec spec_of(const workloads::OperatorInfo& info) {
    CommandSpec spec{std::string(info.name), std::string(info.meaning), "", {}, {}, ""};
    const bool kernel = info.name == "kernel";
    spec.example = kernel
                       ? "warptime sweep kernel saxpy.kernel --gpu h200-sxm,h100-sxm --cache flushed,warm"
                       : fmt::format("warptime sweep {} ... --gpu h200-sxm,h100-sxm -o rows.csv", info.name);
    if (info.name == "gemm") {
        spec.example =
            "warptime sweep gemm --m 128:8192:128 --n 4096,8192 --k 4096 --gpu h200-sxm -o rows.csv";
    }
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        const bool text = parameter.kind == workloads::ParameterKind::text;
        spec.options.push_back(
            {std::string(parameter.name),
             text ? fmt::format("{}; repeatable", parameter.meaning) : values_meaning(parameter.meaning),
             parameter.required ? OptionKind::positional
             : text             ? OptionKind::repeated
                                : OptionKind::value,
             text ? "TEXT" : "VALUES",
             '\0',
             {},
             std::string(parameter.alias)});
    }
    std::vector<OptionSpec> common{
        {"gpu", "Sheet ids or paths; a list; required", OptionKind::value, "ID[,ID...]"},
        {"set", "Numbers of the GPU: gpu.l2.capacity=1x,2x,4x, gpu.dram.bandwidth=+0%:+50%:+10%; repeatable",
         OptionKind::repeated, "KEY=VALUES"}};
    for (const workloads::ConditionInfo& condition : workloads::condition_infos()) {
        common.push_back(
            {std::string(condition.name), values_meaning(condition.meaning), OptionKind::value, "VALUES"});
    }
    common.push_back(
        {"engine", "analytical, simulation; a list; default: analytical", OptionKind::value, "NAMES"});
    common.push_back({"output", "Where the rows go; default: stdout", OptionKind::value, "FILE|-", 'o'});
    common.push_back({"resume", "Go on behind the last whole row of the output", OptionKind::flag});
    common.push_back({"threads", "Threads; default: those of this machine", OptionKind::value, "N"});
    common.push_back({"progress", "Show progress even where stderr is no terminal", OptionKind::flag});
    common.push_back(json_option());
    for (OptionSpec& option : common) {
        option.group = "GPUs, conditions, engine and output";
        spec.options.push_back(std::move(option));
    }
    return spec;
}

/// The GPUs of the list, each under its sheet's id or its path.
std::vector<sweeps::GridGpu> read_gpus(const Arguments& arguments) {
    std::vector<sweeps::GridGpu> gpus;
    for (const std::string& name :
         sweeps::parse_value_list(required_gpu(arguments), "gpu", sweeps::ItemForm::words)) {
        auto gpu = std::make_shared<const hw::Gpu>(load_requested_gpu(name, {}));
        const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml");
        std::string shown = is_path ? name : gpu->id;
        gpus.push_back({std::move(shown), std::move(gpu)});
    }
    return gpus;
}

std::vector<GivenAxis> read_axes(const Arguments& arguments, const workloads::OperatorInfo& info) {
    std::vector<GivenAxis> axes;
    for (const std::string& change : arguments.all("set")) {
        const std::size_t equals = std::min(change.find('='), change.size());
        std::string key = change.substr(0, equals);
        if (key.starts_with("kernel.")) {
            throw UsageError(
                "set", change,
                fmt::format("gpu.KEY=VALUES; a parameter of {} takes its values as an option", info.name));
        }
        if (equals == change.size() || !key.starts_with("gpu.")) {
            throw UsageError("set", change, "gpu.KEY=VALUES, as gpu.l2.capacity=1x,2x,4x");
        }
        std::vector<std::string> values = sweeps::values_of(info, key, change.substr(equals + 1));
        axes.push_back({std::move(key), std::move(values)});
    }
    const auto add = [&](std::string_view name) {
        std::vector<std::string> values;
        for (const std::string& text : arguments.all(name)) {
            const std::vector<std::string> more = sweeps::values_of(info, name, text);
            values.insert(values.end(), more.begin(), more.end());
        }
        if (!values.empty()) axes.push_back({std::string(name), std::move(values)});
    };
    for (const workloads::ConditionInfo& condition : workloads::condition_infos()) add(condition.name);
    for (const workloads::ParameterInfo& parameter : info.parameters) add(parameter.name);
    return axes;
}

unsigned read_threads(const Arguments& arguments) {
    const std::optional<std::string> text = arguments.get("threads");
    if (!text) return sweeps::available_threads();
    return static_cast<unsigned>(workloads::parse_whole(*text, "threads", most_threads));
}

/// A row as an object; cells stay text, and a missing result is null.
std::string json_row(const Grid& grid, const Rows& rows, std::size_t row, const std::string* error) {
    Json object = Json::object();
    for (const sweeps::Axis* axis : grid.all_axes()) {
        object[axis->name] = axis->values[Grid::value_at(*axis, rows.begin + row)];
    }
    const auto time = [&](const std::vector<double>& times) {
        return error == nullptr ? Json(times[row] * hw::us_per_s) : Json();
    };
    object["time_us"] = time(rows.time);
    object["low_us"] = time(rows.low);
    object["high_us"] = time(rows.high);
    using model::prediction::Limiter;
    using model::prediction::Status;
    object["limiter"] = error == nullptr ? Json(to_string(static_cast<Limiter>(rows.limiter[row]))) : Json();
    object["status"] = error == nullptr ? Json(to_string(static_cast<Status>(rows.status[row]))) : Json();
    object["error"] = error == nullptr ? Json() : Json(*error);
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_json_rows(const Grid& grid, const Rows& rows) {
    std::string text;
    std::size_t failed = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const bool has_error = failed < rows.errors.size() && rows.errors[failed].first == row;
        text += rows.begin + row == 0 ? "\n" : ",\n";
        text += json_row(grid, rows, row, has_error ? &rows.errors[failed++].second : nullptr);
    }
    print(text);
}

int finish(const Arguments& arguments, const std::string& output, std::uint64_t rows, std::uint64_t failed,
           std::uint64_t resumed, std::uint64_t points) {
    if (arguments.has("json") && output != "-") {
        const Json summary{
            {"schema", "warptime.sweep/1"}, {"output", output}, {"points", points}, {"rows", rows},
            {"resumed", resumed},           {"failed", failed}};
        print(summary.dump(2) + "\n");
    }
    if (rows < points) {
        print_message(fmt::format("interrupted after {} of {} rows; --resume goes on", rows, points));
        return exit_some_rows_failed;
    }
    if (failed > 0) {
        print_message(fmt::format("{} of {} rows failed; their column error says why", failed, points));
        return exit_some_rows_failed;
    }
    return exit_fine;
}

/// The last row that a file holds is predicted again: another model would go on with other times.
void require_same_model(const sweeps::RowsFile& file, const Grid& grid, const std::string& output) {
    if (file.done() == 0) return;
    sweeps::SweepOptions options;
    options.begin = file.done() - 1;
    options.end = file.done();
    options.with_text = true;
    std::string row;
    options.take = [&row](const Rows& rows) { row = rows.text; };
    static_cast<void>(sweeps::sweep(grid, options));
    if (row == file.last()) return;
    const auto shown = [](std::string text) {
        while (text.ends_with('\n')) text.pop_back();
        return text;
    };
    throw UsageError("output", output,
                     fmt::format("rows of this model ({}): row {} is '{}' here, and '{}' in the file",
                                 reports::model_version(), file.done(), shown(row), shown(file.last())));
}

int run_sweep(const Arguments& arguments) {
    const workloads::OperatorInfo& info = workloads::find_operator(arguments.commands.at(1));
    const std::string output = arguments.get("output").value_or("-");
    const Grid grid = as_usage([&] {
        std::vector<std::string> engines;
        if (const auto names = arguments.get("engine")) {
            engines = sweeps::parse_value_list(*names, "engine", sweeps::ItemForm::words);
        }
        return Grid(info.name, read_gpus(arguments), std::move(engines), read_axes(arguments, info));
    });
    sweeps::SweepOptions options;
    options.threads = as_usage([&] { return read_threads(arguments); });
    options.end = grid.points();
    const bool as_json = arguments.has("json") && output == "-";
    std::optional<sweeps::RowsFile> file;
    if (!as_json) {
        file.emplace(as_usage([&] { return sweeps::RowsFile(output, grid, arguments.has("resume")); }));
        options.begin = file->done();
        require_same_model(*file, grid, output);
    } else if (arguments.has("resume")) {
        throw UsageError("resume", "", "a file of rows, --output");
    }
    options.with_text = !as_json;
    std::uint64_t rows = options.begin;
    std::uint64_t failed = file ? file->failed() : 0;
    {
        const Interrupts interrupts;
        Progress progress("sweep", rows, grid.points(), arguments.has("progress"));
        options.interrupted = [&interrupts] { return interrupts.came(); };
        options.take = [&](const Rows& more) {
            as_json ? print_json_rows(grid, more) : file->append(more.text);
            rows += more.size();
            failed += more.errors.size();
            progress.show(rows, failed);
        };
        if (as_json) print("[");
        static_cast<void>(sweeps::sweep(grid, options));
        if (as_json) print("\n]\n");
    }
    return finish(arguments, output, rows, failed, options.begin, grid.points());
}

}  // namespace

Command sweep_command() {
    CommandSpec spec{"sweep",
                     "One prediction for every combination of values",
                     "warptime sweep gemm --m 128:8192:128 --n 4096,8192 --k 4096 --gpu h200-sxm -o rows.csv",
                     {json_option()},
                     {},
                     "operator"};
    for (const workloads::OperatorInfo& info : workloads::operators())
        spec.subcommands.push_back(spec_of(info));
    return {std::move(spec), run_sweep};
}

}  // namespace warptime::cli
