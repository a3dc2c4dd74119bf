// calibrate: the fitted constants of a GPU from its recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/measured_table.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/record_options.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/table_calibration.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/sheet.hpp"
#include "hw/text_file.hpp"
#include "hw/unit.hpp"
#include "validate/calibrate/calibrate.hpp"
#include "validate/calibration_file.hpp"
#include "validate/engine_fit_model.hpp"
#include "validate/recorded_case.hpp"
#include "validate/replace_file.hpp"
#include "validate/source_tree.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <sstream>

namespace warptime::cli {

namespace {

namespace calibrate = validate::calibrate;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[11] = {};
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

std::string shown(double value, std::string_view unit, int digits) {
    return hw::format_value(std::stod(fmt::format("{:.{}g}", value, digits)), unit);
}

std::string text_of(const calibrate::Calibration& result) {
    std::string text = fmt::format("{:<28}{:>16}{:>16}{:>16}{:>7}{:>10}  {}\n", "key", "before", "value",
                                   "80 % +-", "rows", "residual", "method");
    for (const calibrate::CalibratedKey& key : result.keys) {
        const calibrate::Finding& f = key.finding;
        const std::string_view unit = hw::key_info[hw::key_index(f.key)].unit;
        if (f.determined) {
            text +=
                fmt::format("{:<28}{:>16}{:>16}{:>16}{:>7}{:>10.4g}  {}\n", f.key, shown(key.before, unit, 5),
                            shown(f.value, unit, 5), shown(f.half_width, unit, 3), f.rows, f.residual,
                            calibrate::to_string(key.method));
        } else {
            text += fmt::format("{:<28}{:>16}  undetermined: {}; kept: {}\n", f.key,
                                shown(key.before, unit, 5), f.why, key.before_from);
        }
    }
    for (const std::string& note : result.notes) text += note + "\n";
    return text;
}

Json json_of(const calibrate::Calibration& result) {
    Json keys = Json::array();
    for (const calibrate::CalibratedKey& key : result.keys) {
        const calibrate::Finding& f = key.finding;
        Json entry{{"key", f.key},
                   {"determined", f.determined},
                   {"before", key.before},
                   {"before_from", key.before_from},
                   {"unit", hw::key_info[hw::key_index(f.key)].unit},
                   {"method", calibrate::to_string(key.method)}};
        if (f.determined) {
            entry.update({{"value", f.value},
                          {"interval", f.half_width},
                          {"rows", f.rows},
                          {"residual", f.residual},
                          {"source", f.source}});
        } else {
            entry["why"] = f.why;
        }
        keys.push_back(std::move(entry));
    }
    return keys;
}

/// The whole plan, the parts that --only names, or a fit of the keys that --keys names.
calibrate::Plan read_plan(const Arguments& arguments, const fs::path& sources) {
    if (arguments.has("keys")) {
        if (!arguments.has("suite")) throw UsageError("suite", "", "with --keys, the suites to fit them to");
        calibrate::Plan plan;
        plan.fits.push_back({arguments.all("suite"), {}});
        for (const std::string& list : arguments.all("keys")) {
            for (const std::string& key : split_by_comma(list)) plan.fits.back().keys.push_back(key);
        }
        return plan;
    }
    const fs::path path = arguments.get("plan").value_or((sources / "validate/calibrate/plan.toml").string());
    if (!fs::is_regular_file(path))
        throw Error("--plan", path.string(), "a plan, as validate/calibrate/plan.toml");
    calibrate::Plan plan =
        calibrate::parse_plan(hw::read_text_file(path.string(), "--plan"), path.filename().string());
    const std::vector<std::string> only = arguments.all("only");
    const auto left_out = [&only](const char* part) {
        return !only.empty() && std::find(only.begin(), only.end(), part) == only.end();
    };
    constexpr std::array<std::string_view, 3> parts{"constants", "fits", "bands"};
    for (const std::string& part : only) {
        if (std::find(parts.begin(), parts.end(), part) == parts.end())
            throw UsageError("only", part, hw::expected_names(part, parts));
    }
    if (left_out("constants")) plan.constants.clear();
    if (left_out("fits")) plan.fits.clear();
    if (left_out("bands")) plan.bands.clear();
    return plan;
}

void append_estimates(std::string& text, const validate::RecordedRows& rows, const hw::Gpu& gpu,
                      const std::vector<std::string>& suites, const model::prediction::Engine& engine) {
    validate::EngineFitModel model(rows, engine, gpu, suites, validate::RowsTaken::fit_and_development);
    constexpr double us = 1e6;
    for (const validate::FitRowEstimate& one : model.estimates()) {
        const auto& estimate = one.estimate;
        const bool refused = !(estimate.time > 0.0);
        const auto number = [&](double seconds) {
            return refused ? std::string() : fmt::format("{:.6g}", seconds * us);
        };
        workloads::append_csv_record(
            text, {one.row->suite, one.row->op, one.row->params, one.row->cache,
                   fmt::format("{}", one.measured_us), number(estimate.time), number(estimate.low),
                   number(estimate.high), refused ? "" : std::string(to_string(estimate.limiter)),
                   refused ? "" : std::string(to_string(estimate.band_class)), "", "", "", ""});
    }
}

/// Appends evidence of constants in closed form: the value from each row, and the value from all rows. Both
/// are in the key's base unit.
void append_evidence(std::string& text, const std::vector<calibrate::Finding>& findings) {
    for (const calibrate::Finding& finding : findings) {
        for (const calibrate::Evidence& one : finding.evidence) {
            const validate::RecordedRow& row = *one.row;
            workloads::append_csv_record(
                text, {row.suite, row.op, row.params, row.cache, "", "", "", "", "", "", finding.key,
                       fmt::format("{:.6g}", one.value), fmt::format("{:.6g}", finding.value),
                       std::string(hw::key_info[hw::key_index(finding.key)].unit)});
        }
    }
}

bool has_predictable_rows(const validate::RecordedRows& rows, const std::string& gpu,
                          const std::string& suite) {
    return std::any_of(rows.rows.begin(), rows.rows.end(), [&](const validate::RecordedRow& row) {
        return row.gpu == gpu && row.suite == suite && validate::is_predictable(row);
    });
}

/// Writes fit and development rows with their predictions, in which mechanisms may be sought. The fit rows of
/// each constant in closed form follow.
void write_list(const fs::path& path, const validate::RecordedRows& rows, const hw::Gpu& gpu,
                const std::vector<std::string>& suites, const model::prediction::Engine& engine,
                const calibrate::Plan& plan) {
    const std::vector<calibrate::Finding> findings =
        calibrate::find_constants(plan, rows, gpu, suites, engine);
    std::string text;
    workloads::append_csv_record(
        text, {"suite", "op", "params", "cache", "measured_us", "predicted_us", "low_us", "high_us",
               "limiter", "class", "key", "row_value", "value", "unit"});
    // Many microbenchmarks are no programs that the model can predict.
    std::vector<std::string> predicted = suites;
    predicted.erase(
        std::remove_if(predicted.begin(), predicted.end(),
                       [&](const std::string& suite) { return !has_predictable_rows(rows, gpu.id, suite); }),
        predicted.end());
    if (suites.empty() || !predicted.empty()) append_estimates(text, rows, gpu, predicted, engine);
    append_evidence(text, findings);
    validate::replace_file(path, text);
}

int run_calibrate(const Arguments& arguments) {
    if (names_table(arguments)) return calibrate_table(arguments);
    const std::string id = required_gpu(arguments);
    const fs::path sources = validate::find_sources(arguments.get("sources").value_or(""));
    const fs::path current = sources / "hw/calibrations" / (id + ".toml");
    const fs::path output = arguments.get("output").value_or(current.string());
    hw::Gpu gpu = load_requested_gpu(id, {});
    // A GPU without any fit has no file yet.
    const std::string text =
        fs::exists(current) ? hw::read_text_file(current.string(), "--sources") : std::string();
    if (!text.empty()) validate::apply_calibration(text, current.filename().string(), gpu);
    hw::apply_settings(gpu, read_settings(arguments));
    const fs::path data = arguments.get("data").value_or((sources / "validate/recorded").string());
    const auto engine = make_engine(default_engine);
    const validate::RecordedRows rows = validate::read_recorded(data);
    if (const auto list = arguments.get("list")) {
        write_list(*list, rows, gpu, arguments.all("suite"), *engine, read_plan(arguments, sources));
        return exit_fine;
    }
    const calibrate::Calibration result =
        calibrate::calibrate(read_plan(arguments, sources), rows, gpu, text, arguments.all("suite"), *engine,
                             arguments.get("date").value_or(today()));
    const bool write = !arguments.has("dry_run");
    if (write) validate::replace_file(output, result.text);
    if (arguments.has("json")) {
        const Json object{{"schema", "warptime.calibrate/1"},
                          {"gpu", id},
                          {"output", write ? Json(output.string()) : Json()},
                          {"keys", json_of(result)},
                          {"notes", result.notes}};
        print(object.dump(2) + "\n");
    } else {
        print(text_of(result) +
              (write ? fmt::format("wrote {}; build again to embed it, or give it to validate with "
                                   "--calibration\n",
                                   output.string())
                     : "nothing written\n"));
    }
    return exit_fine;
}

}  // namespace

Command calibrate_command() {
    std::vector<OptionSpec> options = gpu_options();
    const std::vector<OptionSpec> more = {
        {"data",
         "Folder of recorded rows; default: the repository's. Or a table of your own with m,n,k,dtype and "
         "time_us: what it determines goes to --output as a sheet",
         OptionKind::value, "DIR|TABLE.csv"},
        {"output", "File for the calibration; default: hw/calibrations/ID.toml. A new sheet with a table",
         OptionKind::value, "FILE", 'o'},
        {"dry_run", "Print, write nothing", OptionKind::flag},
        {"suite", "Only what this suite determines; repeatable", OptionKind::repeated},
        {"plan", "What to work out and how; default: validate/calibrate/plan.toml", OptionKind::value,
         "FILE"},
        {"only", "Only this part: constants, fits or bands; repeatable", OptionKind::repeated, "PART"},
        {"keys",
         "Instead of the plan: fit these keys, by comma, to the rows of --suite, or of a table; KEY or "
         "KEY=LOW..HIGH",
         OptionKind::repeated, "KEYS"},
        {"list",
         "Instead of calibrating: write fit and development rows beside their predictions, and the rows that "
         "each constant in closed form rests on, as CSV",
         OptionKind::value, "FILE"},
        {"date", "Date to be written; default: today", OptionKind::value, "YYYY-MM-DD"},
        {"sources", "Source tree; default: this one", OptionKind::value, "DIR"}};
    options.insert(options.end(), more.begin(), more.end());
    return {{"calibrate",
             "Work out the fitted constants of a GPU from its recorded fit rows",
             "warptime calibrate --gpu h200-sxm --dry-run",
             options,
             {},
             ""},
            run_calibrate};
}

}  // namespace warptime::cli
