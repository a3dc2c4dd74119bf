// predict and explain: one operation on one GPU, in short or in detail.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/operation_options.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/context.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/prediction_text.hpp"
#include "bindings/reports/recorded_comparison.hpp"
#include "bindings/reports/timeline.hpp"
#include "bindings/reports/what_if.hpp"
#include "bindings/reports/would_help.hpp"
#include "model/kernel/text.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/predict.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace warptime::cli {

namespace {

namespace prediction = model::prediction;

std::vector<OptionSpec> options_of_predict() {
    std::vector<OptionSpec> options = predicting_options();
    options.push_back(
        {"compare_recorded", "Also print the time recorded for this case, and the error", OptionKind::flag});
    options.push_back({"timeline",
                       "Write the simulation's course as a trace for Perfetto; needs --engine simulation",
                       OptionKind::value, "FILE"});
    options.push_back(
        {"description", "Write what runs as text, which predict kernel reads", OptionKind::value, "FILE"});
    return options;
}

/// The file that an option names, opened before any work, so that a path that cannot be written is known at
/// once; nothing where the option is not given.
std::unique_ptr<OutputFile> file_of(const Arguments& arguments, const std::string& option) {
    const std::optional<std::string> path = arguments.get(option);
    if (!path) return nullptr;
    if (path->empty() || *path == "-") {
        throw UsageError(option, *path, "the path of a file, since stdout has the answer");
    }
    try {
        return std::make_unique<OutputFile>(*path);
    } catch (const Error& error) {
        throw UsageError(option, *path, error.expected());
    }
}

std::unique_ptr<OutputFile> timeline_file(const Arguments& arguments, const prediction::Engine& engine) {
    const std::optional<std::string> path = arguments.get("timeline");
    if (path && engine.name() != "simulation") {
        throw UsageError(
            "timeline", *path,
            fmt::format("--engine simulation; the {} engine has no course of time", engine.name()));
    }
    return file_of(arguments, "timeline");
}

CommandSpec spec_of(const workloads::OperatorInfo& info, std::string_view command) {
    std::string example(info.example);
    example.replace(example.find("predict"), std::string_view("predict").size(), command);
    CommandSpec spec{std::string(info.name),
                     std::string(info.meaning),
                     std::move(example),
                     operation_options(info, Parameters::all),
                     {},
                     ""};
    for (OptionSpec option : options_of_predict()) {
        option.group = "GPU, conditions and engine";
        spec.options.push_back(std::move(option));
    }
    return spec;
}

CommandSpec spec_named(const char* name, const char* meaning) {
    CommandSpec spec{name,
                     meaning,
                     fmt::format("warptime {} gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm", name),
                     options_of_predict(),
                     {},
                     "operator"};
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        spec.subcommands.push_back(spec_of(info, name));
    }
    return spec;
}

int run_predict(const Arguments& arguments, bool in_depth) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const bool compare = arguments.has("compare_recorded");
    if (compare && !settings.empty()) {
        throw UsageError("compare_recorded", "with --set " + arguments.all("set").front(),
                         "no --set: a changed GPU or kernel was never recorded");
    }
    const workloads::Operation operation = read_operation(arguments, settings);
    const prediction::Conditions conditions = read_conditions(arguments);
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const std::unique_ptr<OutputFile> timeline = timeline_file(arguments, *engine);
    const std::unique_ptr<OutputFile> description = file_of(arguments, "description");
    const hw::Gpu gpu = load_requested_gpu(required_gpu(arguments), settings);
    workloads::check_conditions(conditions, gpu);

    // The launch of a library does not depend on the predicting engine.
    const auto chooser = make_engine(default_engine);
    workloads::Predictor predictor(*engine, gpu, chooser.get());
    prediction::Prediction answer = predictor.explain(operation, conditions);
    reports::ReportContext context = reports::make_report_context(operation, gpu, conditions, engine->name());
    reports::add_kernel_settings(settings, context);
    reports::mark_what_if(context, answer);
    std::vector<reports::WouldHelp> helpful;
    if (in_depth) {
        helpful = reports::twice_as_fast(predictor.program(), *engine, gpu, conditions, answer.time);
    }
    std::optional<validate::RecordedRow> row;
    if (compare) {
        row = reports::recorded_row_of(validate::read_recorded(validate::find_recorded()), operation,
                                       conditions, gpu.id);
    }
    std::string report;
    if (arguments.has("json")) {
        report = reports::to_json(answer, context);
        report = in_depth ? reports::with_would_help_json(report, helpful) : report;
        report = (compare ? reports::with_recorded_json(report, row, answer) : report) + "\n";
    } else {
        report = in_depth ? reports::explain_text(answer, context) : reports::short_text(answer, context);
        report += in_depth ? reports::would_help_text(helpful, answer.time) : "";
        report += compare ? reports::recorded_text(row, answer) : "";
    }
    if (timeline != nullptr) {
        reports::write_timeline(predictor.program(), gpu, context,
                                [&timeline](std::string_view text) { timeline->write(text); });
        timeline->commit();
    }
    if (description != nullptr) {
        description->write(model::kernel::to_text(predictor.program()));
        description->commit();
    }
    print(report);
    return exit_fine;
}

}  // namespace

Command predict_command() {
    return {spec_named("predict", "Time of one operation, with its band and limiter"),
            [](const Arguments& arguments) { return run_predict(arguments, false); }};
}

Command explain_command() {
    return {spec_named("explain", "The same in depth: shares, bounds with their inputs, counters, steps"),
            [](const Arguments& arguments) { return run_predict(arguments, true); }};
}

}  // namespace warptime::cli
