// step: how long a whole step takes, from a file of its rows.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/steps/step_prediction.hpp"
#include "workloads/condition_values.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace warptime::cli {

namespace {

constexpr std::size_t rows_shown = 15;

std::string bytes_of_file(const std::string& path) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) {
        throw UsageError("step", path, "a file of rows in JSON or CSV, plain or packed by gzip");
    }
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

double launch_seconds(const Arguments& arguments, model::system::Launching launching) {
    const auto text = arguments.get("launch_us");
    if (!text) return -1.0;
    if (launching != model::system::Launching::eager) {
        throw UsageError("launch_us", *text, "--launch eager beside it: a graph is launched at once");
    }
    char* end = nullptr;
    const double value = std::strtod(text->c_str(), &end);
    if (text->empty() || *end != '\0' || !(value >= 0.0) || !std::isfinite(value)) {
        throw UsageError("launch_us", *text, "microseconds of the host for each launch, from 0");
    }
    return value * 1e-6;
}

void write_file(const std::string& path, const std::string& text) {
    OutputFile file = as_usage([&] { return OutputFile(path); });
    file.write(text);
    file.commit();
}

int run_step(const Arguments& arguments) {
    const std::string path = arguments.get("step").value_or("");
    if (path.empty()) throw UsageError("step", "", "a file of rows in JSON or CSV");
    const std::vector<hw::Setting> settings = as_usage([&] { return read_settings(arguments); });
    auto [conditions, chain] = read_sequence_conditions(arguments);
    steps::StepOptions options;
    options.chain = chain && arguments.has("cache");
    if (!arguments.has("cache")) conditions.cache = steps::usual_cache;
    options.launching =
        as_usage([&] { return steps::launching_of(arguments.get("launch").value_or("graph")); });
    options.launch_seconds = launch_seconds(arguments, options.launching);
    const std::size_t most = read_top(arguments, rows_shown);
    const std::string name = std::filesystem::path(path).filename().string();
    steps::StepFile file = as_usage([&] { return steps::read_step(bytes_of_file(path), name); });
    if (file.name.empty()) file.name = std::filesystem::path(path).stem().string();
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const auto chooser = make_engine(default_engine);
    const hw::Gpu gpu = load_requested_gpu(required_gpu(arguments), settings);
    workloads::check_conditions(conditions, gpu);
    workloads::Predictor predictor(*engine, gpu, chooser.get());
    const steps::StepPrediction answer =
        steps::predict_step(file, name, predictor, engine->name(), conditions, options);
    if (const auto rows = arguments.get("output")) {
        write_file(*rows, steps::step_csv(file, answer));
        if (*rows == "-") return exit_fine;
    }
    if (const auto timeline = arguments.get("timeline")) {
        write_file(*timeline, steps::step_timeline(file, answer));
        if (*timeline == "-") return exit_fine;
    }
    print(arguments.has("json") ? steps::step_json(file, answer) : steps::step_text(file, answer, most));
    return exit_fine;
}

}  // namespace

Command step_command() {
    CommandSpec spec{"step",
                     "How long a whole step takes: rows of operators on streams",
                     "warptime step examples/steps/llama_layer.csv --gpu h200-sxm --launch eager",
                     predicting_options(),
                     {},
                     ""};
    offer_chain(spec.options, "cold");
    spec.options.push_back({"step", "Rows in JSON (schema warptime-step-1) or CSV, plain or packed by gzip",
                            OptionKind::positional, "FILE"});
    spec.options.push_back(
        {"launch", "How the host launches; default: graph", OptionKind::value, "eager|graph"});
    spec.options.push_back({"launch_us",
                            "Microseconds of the host for each launch, eager; default: launch.host",
                            OptionKind::value, "US"});
    spec.options.push_back(
        {"top", "Rows to show, the longest first; 0: all; default: 15", OptionKind::value, "N"});
    spec.options.push_back(
        {"timeline", "Write the course of the step, for Perfetto", OptionKind::value, "FILE.json"});
    spec.options.push_back({"output", "Write a line for each row", OptionKind::value, "FILE.csv", 'o'});
    return {std::move(spec), run_step};
}

}  // namespace warptime::cli
