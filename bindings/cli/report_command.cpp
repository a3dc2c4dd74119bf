// report: one page for a browser, of a prediction, of what a program launches, or of the scoreboard.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/operation_options.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/run_answer.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/context.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/prediction_page.hpp"
#include "bindings/reports/prediction_text.hpp"
#include "bindings/reports/run_page.hpp"
#include "bindings/reports/scoreboard_page.hpp"
#include "bindings/reports/what_if.hpp"
#include "bindings/reports/would_help.hpp"
#include "bindings/steps/step_row_predictor.hpp"
#include "hw/sheet.hpp"
#include "validate/engine_predictor.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace warptime::cli {

namespace {

constexpr const char* run_name = "run";
constexpr const char* scoreboard_name = "scoreboard";

OptionSpec output_option() {
    return {"output", "The page to write; required", OptionKind::value, "FILE.html", 'o'};
}

/// Refuses a missing or unwritable path before any work.
std::string output_path(const Arguments& arguments) {
    std::string path = arguments.get("output").value_or("");
    if (path.empty()) throw UsageError("output", path, "-o with the path of the page");
    return path;
}

int finish(const Arguments& arguments, OutputFile& file, const std::string& path, const std::string& page) {
    file.write(page);
    file.commit();
    if (path == "-") return exit_fine;
    if (arguments.has("json")) {
        print(nlohmann::ordered_json{{"schema", "warptime.report/1"}, {"file", path}, {"bytes", page.size()}}
                  .dump(2) +
              "\n");
    } else {
        print(fmt::format("{}: {} kB, one page without links to other files\n", path, page.size() / 1000));
    }
    return exit_fine;
}

std::string page_of_prediction(const Arguments& arguments) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const workloads::Operation operation = read_operation(arguments, settings);
    const model::prediction::Conditions conditions = read_conditions(arguments);
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const hw::Gpu gpu = load_requested_gpu(required_gpu(arguments), settings);
    workloads::check_conditions(conditions, gpu);
    const auto chooser = make_engine(default_engine);
    workloads::Predictor predictor(*engine, gpu, chooser.get());
    model::prediction::Prediction answer = predictor.explain(operation, conditions);
    reports::ReportContext context = reports::make_report_context(operation, gpu, conditions, engine->name());
    reports::add_kernel_settings(settings, context);
    reports::mark_what_if(context, answer);
    std::vector<reports::WouldHelp> helpful;
    if (engine->name() == default_engine) {  // the simulation is too slow for it
        helpful = reports::twice_as_fast(predictor.program(), *engine, gpu, conditions, answer.time);
    }
    return reports::prediction_page(
        reports::with_would_help_json(reports::to_json(answer, context), helpful),
        reports::explain_text(answer, context) +
            (helpful.empty() ? "" : reports::would_help_text(helpful, answer.time)));
}

std::string page_of_scoreboard(const Arguments& arguments) {
    validate::ScoreOptions options;
    options.suites = arguments.all("suite");
    for (const std::string& name : arguments.all("gpu")) {
        options.gpus.push_back(as_usage([&name] { return hw::sheet_id_of(name); }));
    }
    if (const std::optional<std::string> sample = arguments.get("sample")) {
        options.sample =
            as_usage([&] { return static_cast<std::size_t>(workloads::parse_size(*sample, "sample")); });
    }
    options.keep_rows = true;
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const auto chooser = make_engine(default_engine);
    validate::EngineRowPredictor operators(*engine, {}, chooser.get());
    const std::filesystem::path folder = validate::find_recorded(arguments.get("data").value_or(""));
    steps::StepRowPredictor predictor(operators, steps::captures_beside(folder));
    const validate::RecordedRows rows = validate::read_recorded(folder);
    return reports::scoreboard_page(validate::score(rows, predictor, options), *engine);
}

int run_report(const Arguments& arguments) {
    const std::string path = output_path(arguments);
    OutputFile file(path);
    const std::string& what = arguments.commands.at(1);
    if (what == run_name) {
        const RunAnswer answer = answer_run(arguments);
        const int written = finish(arguments, file, path, reports::run_page(answer.json));
        return answer.exit_code == exit_fine ? written : answer.exit_code;
    }
    return finish(arguments, file, path,
                  what == scoreboard_name ? page_of_scoreboard(arguments) : page_of_prediction(arguments));
}

CommandSpec spec_of_operator(const workloads::OperatorInfo& info) {
    std::string example(info.example);
    example.replace(example.find("predict"), std::string_view("predict").size(), "report");
    CommandSpec spec{std::string(info.name),
                     std::string(info.meaning),
                     example + " -o report.html",
                     operation_options(info, Parameters::all),
                     {},
                     ""};
    for (OptionSpec option : predicting_options()) {
        option.group = "GPU, conditions and engine";
        spec.options.push_back(std::move(option));
    }
    spec.options.push_back(output_option());
    return spec;
}

}  // namespace

Command report_command() {
    CommandSpec spec{"report",
                     "One page for a browser: a prediction, what a program launches, or the scoreboard",
                     "warptime report gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm -o report.html",
                     {},
                     {},
                     "operator"};
    CommandSpec run = run_command().spec;
    run.name = run_name;
    run.meaning =
        "Of a program: its launches, the time by kernel, and with --lines the time by line of source";
    run.example = "warptime report run --gpu h200-sxm --lines -o report.html -- ./program arguments";
    run.options.erase(std::remove_if(run.options.begin(), run.options.end(),
                                     [](const OptionSpec& o) { return o.name == "output"; }),
                      run.options.end());
    run.options.push_back(output_option());
    spec.subcommands.push_back(std::move(run));
    spec.subcommands.push_back(
        {scoreboard_name,
         "Of the scoreboard: predicted over measured, error against size, the ten worst cases explained",
         "warptime report scoreboard --gpu h200-sxm -o report.html",
         {{"suite", "Only this suite; repeatable", OptionKind::repeated},
          {"gpu", "Only this GPU; repeatable", OptionKind::repeated, "ID"},
          {"data", "Folder of recorded rows; default: the repository's", OptionKind::value, "DIR"},
          {"engine", "analytical or simulation; default: analytical"},
          {"sample", "Score at most N rows of a suite, always the same ones", OptionKind::value, "N"},
          json_option(),
          output_option()},
         {},
         ""});
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        spec.subcommands.push_back(spec_of_operator(info));
    }
    return {std::move(spec), run_report};
}

}  // namespace warptime::cli
