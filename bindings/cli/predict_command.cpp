// predict and explain: one operation on one GPU, briefly or in depth.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/operation_options.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/recorded_comparison.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "model/prediction/report_json.hpp"
#include "model/prediction/report_text.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/predict.hpp"
#include "workloads/report_context.hpp"

#include <fmt/format.h>

namespace warptime::cli {

namespace {

namespace prediction = model::prediction;

std::vector<OptionSpec> options_of_predict() {
    std::vector<OptionSpec> options = predicting_options();
    options.push_back(
        {"compare_recorded", "Also print the time recorded for this case, and the error", OptionKind::flag});
    return options;
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

int run(const Arguments& arguments, bool in_depth) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const workloads::Operation operation = read_operation(arguments, settings);
    const prediction::Conditions conditions = read_conditions(arguments);
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const hw::Gpu<double> gpu = load_requested_gpu(required_gpu(arguments), settings);
    workloads::check_available_sms(conditions, static_cast<int>(gpu.sm.count.value()));

    // What a library launches does not depend on who predicts it.
    const auto chooser = make_engine(default_engine);
    workloads::Predictor predictor(*engine, gpu, chooser.get());
    const prediction::Prediction answer = predictor.explain(operation, conditions);
    const prediction::ReportContext context =
        workloads::make_report_context(operation, gpu.id, conditions, engine->name());
    const bool compare = arguments.has("compare_recorded");
    std::optional<validate::RecordedRow> row;
    if (compare) {
        row = recorded_row_of(validate::read_recorded(validate::find_recorded()), operation, conditions,
                              gpu.id);
    }
    std::string report;
    if (arguments.has("json")) {
        report = prediction::to_json(answer, context);
        report = (compare ? with_recorded_json(report, row, answer) : report) + "\n";
    } else {
        report =
            in_depth ? prediction::explain_text(answer, context) : prediction::short_text(answer, context);
        report += compare ? recorded_text(row, answer) : "";
    }
    print(report);
    return exit_fine;
}

}  // namespace

Command predict_command() {
    return {spec_named("predict", "Time of one operation, with its band and limiter"),
            [](const Arguments& arguments) { return run(arguments, false); }};
}

Command explain_command() {
    return {spec_named("explain", "The same in depth: shares, bounds with their inputs, counters, steps"),
            [](const Arguments& arguments) { return run(arguments, true); }};
}

}  // namespace warptime::cli
