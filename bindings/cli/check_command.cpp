// check: a baseline of predicted times, and which kernels got slower since.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/checks/comparison_report.hpp"
#include "bindings/checks/difference_noise.hpp"
#include "bindings/cli/check_cases.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/version.hpp"
#include "hw/nearest_name.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

namespace warptime::cli {

namespace {

using checks::Baseline;

constexpr std::array<std::string_view, 4> formats{"text", "json", "markdown", "junit"};

std::string conditions_text(const model::prediction::Conditions& conditions) {
    std::string text = fmt::format("cache={} duty={} data={}", to_string(conditions.cache),
                                   to_string(conditions.duty), to_string(conditions.data));
    if (conditions.available_sms > 0) text += fmt::format(" available_sms={}", conditions.available_sms);
    if (conditions.clock_hz > 0.0) text += fmt::format(" clock_mhz={}", conditions.clock_hz / 1e6);
    if (conditions.ecc != model::prediction::Ecc::as_shipped) {
        text += fmt::format(" ecc={}", to_string(conditions.ecc));
    }
    if (conditions.between > 0.0) text += fmt::format(" between={:.0f}", conditions.between);
    if (const std::string names = in_turn_text(conditions); !names.empty()) text += " in_turn=" + names;
    return text;
}

std::string required(const Arguments& arguments, const char* name, const char* expected) {
    std::string value = arguments.get(name).value_or("");
    if (value.empty()) throw UsageError(name, "", expected);
    return value;
}

BatchDefaults defaults_of(const Arguments& arguments) {
    return {arguments.get("gpu").value_or(""), arguments.get("engine").value_or(std::string(default_engine)),
            read_conditions(arguments), read_settings(arguments)};
}

/// A baseline of this program and these arguments, without cases.
Baseline empty_baseline(const Arguments& arguments) {
    const BatchDefaults defaults = defaults_of(arguments);
    Baseline baseline;
    baseline.version = reports::model_version();
    baseline.engine = as_usage([&] { return engines::engine_named(defaults.engine); });
    baseline.conditions = conditions_text(defaults.conditions);
    baseline.settings = arguments.all("set");
    return baseline;
}

void fill(const Arguments& arguments, Baseline& baseline) {
    predict_cases(required(arguments, "cases", "a CSV file of cases, or - for stdin"), defaults_of(arguments),
                  baseline);
}

/// A fraction from "5%", "5 %" or "0.05".
double read_fraction(const Arguments& arguments, const char* name, double otherwise) {
    const std::optional<std::string> text = arguments.get(name);
    if (!text) return otherwise;
    double number = 0.0;
    const char* const last = text->data() + text->size();
    const auto [end, error] = std::from_chars(text->data(), last, number);
    std::string_view unit(end, static_cast<std::size_t>(last - end));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (unit == "%") number /= 100.0;
    if (error != std::errc() || !(unit.empty() || unit == "%") || !(number >= 0.0 && number <= 100.0)) {
        throw UsageError(name, *text, "a share from 0 to 100, as 5% or 0.05");
    }
    return number;
}

std::size_t count_errors(const Baseline& baseline) {
    return static_cast<std::size_t>(
        std::count_if(baseline.cases.begin(), baseline.cases.end(),
                      [](const checks::Case& one) { return !one.error.empty(); }));
}

int run_record(const Arguments& arguments) {
    const std::string path = required(arguments, "baseline", "the file to write");
    OutputFile file = as_usage([&] { return OutputFile(path); });
    Baseline baseline = empty_baseline(arguments);
    fill(arguments, baseline);
    file.write(checks::to_json(baseline));
    file.commit();
    const std::size_t failed = count_errors(baseline);
    if (arguments.has("json") && path != "-") {
        const nlohmann::ordered_json summary{{"schema", "warptime.check_record/1"},
                                             {"baseline", path},
                                             {"cases", baseline.cases.size()},
                                             {"failed", failed}};
        print(summary.dump(2) + "\n");
    }
    if (failed > 0) {
        const auto first = std::find_if(baseline.cases.begin(), baseline.cases.end(),
                                        [](const checks::Case& one) { return !one.error.empty(); });
        print_message(fmt::format("{} of {} cases have no time; the first: {}: {}", failed,
                                  baseline.cases.size(), first->name, first->error));
        return exit_some_rows_failed;
    }
    return exit_fine;
}

Baseline load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file && text.empty()) throw UsageError("baseline", path, "a file that warptime check record wrote");
    return as_usage([&] { return checks::read_baseline(text, path); });
}

int run_compare(const Arguments& arguments) {
    const std::string path = required(arguments, "baseline", "the file that warptime check record wrote");
    std::string format = arguments.get("format").value_or(arguments.has("json") ? "json" : "text");
    const auto known = hw::find_name(format, std::vector<std::string_view>(formats.begin(), formats.end()));
    if (!known) {
        throw UsageError(
            "format", format,
            hw::expected_names(format, std::vector<std::string_view>(formats.begin(), formats.end())));
    }
    format = formats[*known];
    const checks::Limits limits{
        read_fraction(arguments, "threshold", 0.05),
        std::log1p(read_fraction(arguments, "noise", std::expm1(checks::difference_noise().noise)))};
    const Baseline before = load(path);
    Baseline now = empty_baseline(arguments);
    as_usage([&] { checks::require_comparable(before, now, path); });
    fill(arguments, now);
    // The GPUs of the cases are known only now.
    as_usage([&] { checks::require_comparable(before, now, path); });
    const checks::Comparison comparison = checks::compare(before, now, limits);
    const std::string report = format == "json"       ? checks::json_report(comparison, now)
                               : format == "markdown" ? checks::markdown_report(comparison)
                               : format == "junit"    ? checks::junit_report(comparison)
                                                      : checks::text_report(comparison);
    OutputFile file = as_usage([&] { return OutputFile(arguments.get("output").value_or("-")); });
    file.write(report);
    file.commit();
    return comparison.is_bad() ? exit_some_rows_failed : exit_fine;
}

CommandSpec action(const char* name, const char* meaning) {
    CommandSpec spec{name,
                     meaning,
                     fmt::format("warptime check {} --baseline times.json --gpu h200-sxm kernels.csv", name),
                     predicting_options(),
                     {},
                     ""};
    spec.options.push_back({"cases",
                            "Kernels in the form of batch; a column _case names rows; op program with a "
                            "column command gives the "
                            "launches of a program",
                            OptionKind::positional, "FILE|-"});
    spec.options.push_back({"baseline", "JSON file of the baseline; required", OptionKind::value, "FILE"});
    return spec;
}

}  // namespace

Command check_command() {
    CommandSpec record = action("record", "Write the predicted times as a baseline");
    CommandSpec compare =
        action("compare", "Predict again and say what got slower; exit code 3 if anything did");
    compare.options.push_back(
        {"threshold", "Slower by more than this is a regression, if it is above the noise; default: 5%",
         OptionKind::value, "SHARE"});
    compare.options.push_back(
        {"noise",
         fmt::format("The model's noise for a difference of two kernels; default: {:.0f}%, from {} pairs of "
                     "recorded kernels",
                     100.0 * std::expm1(checks::difference_noise().noise), checks::difference_noise().pairs),
         OptionKind::value, "SHARE"});
    compare.options.push_back(
        {"format", "text, json, markdown or junit; default: text", OptionKind::value, "NAME"});
    compare.options.push_back(
        {"output", "Where the report goes; default: stdout", OptionKind::value, "FILE|-", 'o'});
    CommandSpec spec{"check",
                     "Which kernels got slower: a baseline without a GPU, and the comparison with it",
                     "warptime check compare --baseline times.json --gpu h200-sxm kernels.csv",
                     {json_option()},
                     {std::move(record), std::move(compare)},
                     "action"};
    return {std::move(spec), [](const Arguments& arguments) {
                return arguments.commands.at(1) == "record" ? run_record(arguments) : run_compare(arguments);
            }};
}

}  // namespace warptime::cli
