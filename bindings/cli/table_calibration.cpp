// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/table_calibration.hpp"

#include "bindings/cli/measured_table.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/own_sheet.hpp"
#include "bindings/cli/record_options.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/gpu_sheet_text.hpp"
#include "hw/quantity.hpp"
#include "hw/sheet.hpp"
#include "hw/unit.hpp"
#include "model/system/program.hpp"
#include "validate/fit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

namespace warptime::cli {

namespace {

using hw::us_per_s;
using Json = nlohmann::ordered_json;

/// What times of whole kernels can tell, where the table does not say otherwise by --keys.
constexpr std::array<std::string_view, 9> told_by_times{
    "launch.floor", "dram.row_efficiency", "dram.read_efficiency",  "clock.tensor_base",       "l2.bandwidth",
    "launch.cold",  "l2.port_bandwidth",   "dram.write_efficiency", "tensor.mma_sync_fraction"};
/// A constant is determined where its 80 % interval is within this share of its value.
constexpr double widest = 0.2;
/// A fit needs so many rows for each constant.
constexpr std::size_t rows_for_each = 5;

/// The rows as something to fit to: each is lowered when kernels are chosen, and then evaluated often.
class RowsToFit {
  public:
    RowsToFit(const MeasuredTable& table, const model::prediction::Engine& engine, const hw::Gpu& gpu)
        : table_(&table), engine_(&engine), gpu_(&gpu), stages_(engine.make_stages(gpu)) {}

    [[nodiscard]] validate::FitModel model() {
        validate::FitModel model;
        for (const MeasuredRow& row : table_->rows) model.measured_us.push_back(row.measured * us_per_s);
        model.choose = [this] { choose(); };
        model.predict = [this](std::span<double> out) { predict(out); };
        return model;
    }

  private:
    void choose() {
        workloads::Predictor predictor(*engine_, *gpu_);
        programs_.clear();
        for (const MeasuredRow& row : table_->rows) {
            try {
                (void)predictor.evaluate(row.question.operation, row.question.conditions);
                programs_.push_back(predictor.program());
            } catch (const Error&) {
                programs_.emplace_back();  // the constants allow no such kernel
            }
        }
    }
    void predict(std::span<double> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = std::numeric_limits<double>::quiet_NaN();
            if (programs_[i].steps.empty()) continue;
            try {
                const auto& conditions = table_->rows[i].question.conditions;
                out[i] = us_per_s * model::system::evaluate(programs_[i], *stages_, conditions).time;
            } catch (const Error&) {
                continue;  // constants that the engine refuses are no solution
            }
        }
    }

    const MeasuredTable* table_;
    const model::prediction::Engine* engine_;
    const hw::Gpu* gpu_;
    std::unique_ptr<model::prediction::Stages> stages_;
    std::vector<model::kernel::Program> programs_;
};

/// Half-width of a constant's 80 % interval, infinite where it is not determined. Two honest tables of the
/// same cases differ by 3 % and more, so rows that agree better with one another say no more than that.
double half_width(const validate::FittedKey& key, const validate::FitReport& report) {
    if (key.at_bound || !std::isfinite(key.half_width_80)) return std::numeric_limits<double>::infinity();
    constexpr double least_noise = 0.03;
    const double noise = std::isfinite(report.mean_log_error) ? report.mean_log_error : least_noise;
    return key.half_width_80 * std::max(1.0, noise > 0.0 ? least_noise / noise : 1.0);
}

std::string why_not(const validate::FittedKey& key, const validate::FitReport& report) {
    if (key.at_bound) return "the fit drives it to its bound";
    const double share = half_width(key, report) / key.value;
    if (!std::isfinite(share)) return "the times do not depend on it";
    if (share > 1.0) return "the times hardly depend on it, or others do the same to them";
    if (share > widest) return fmt::format("its 80 % interval is {:.0f} % of the value", 100.0 * share);
    return fmt::format("{} rows are too few for {} constants", report.rows, report.keys.size());
}

struct LeftOut {
    std::string key, why;
};

struct TableFit {
    validate::FitReport report;  ///< of what is determined
    std::vector<LeftOut> left_out;
    double mean_log_error_before = 0.0;  ///< of the rows from 10 us on
};

/// Fits all keys, leaves out the one that is least sure, and again, until every one is determined.
TableFit fit_what_is_determined(std::vector<validate::FitKey> keys, const MeasuredTable& table,
                                const model::prediction::Engine& engine, const hw::Gpu& start) {
    TableFit result;
    while (!keys.empty()) {
        hw::Gpu gpu = start;
        RowsToFit rows(table, engine, gpu);
        result.report = validate::fit_keys(gpu, keys, rows.model());
        const auto& fitted = result.report.keys;
        const auto share = [&](const validate::FittedKey& key) {
            return half_width(key, result.report) / key.value;
        };
        const auto worst = std::max_element(
            fitted.begin(), fitted.end(), [&](const auto& a, const auto& b) { return share(a) < share(b); });
        const bool too_many = keys.size() * rows_for_each > result.report.rows;
        if (share(*worst) <= widest && !too_many) break;
        result.left_out.push_back({worst->name, why_not(*worst, result.report)});
        keys.erase(keys.begin() + (worst - fitted.begin()));
    }
    if (keys.empty()) result.report = {};
    double sum = 0.0;
    int count = 0;
    constexpr double short_time = 10e-6;
    for (const MeasuredRow& row : table.rows) {
        if (row.measured < short_time) continue;
        sum += std::abs(std::log(row.ratio()));
        ++count;
    }
    result.mean_log_error_before = count > 0 ? sum / count : 0.0;
    return result;
}

std::vector<validate::FitKey> candidates(const Arguments& arguments, const hw::Gpu& gpu) {
    std::vector<validate::FitKey> keys;
    for (const std::string& list : arguments.all("keys")) {
        for (const std::string& key : split_by_comma(list)) {
            keys.push_back(as_usage([&] { return validate::parse_fit_key(key, gpu); }));
        }
    }
    if (!keys.empty()) return keys;
    for (const std::string_view key : told_by_times) {
        if (hw::key_value(gpu, hw::key_index(key)) > 0.0) keys.push_back(validate::parse_fit_key(key, gpu));
    }
    return keys;
}

std::string shown(double value, std::string_view unit, int digits) {
    return hw::format_value(std::stod(fmt::format("{:.{}g}", value, digits)), unit);
}

std::string_view unit_of(const std::string& key) {
    return hw::key_info[hw::key_index(key)].unit;
}

std::string text_of(const TableFit& fit, const std::string& path, const std::string& id, std::size_t rows) {
    std::string text = fmt::format("{} on {}: {} rows\n", path, id, rows);
    if (!fit.report.keys.empty()) {
        text += fmt::format("{:<28}{:>16}{:>16}{:>16}\n", "determined", "before", "value", "80 % +-");
        for (const validate::FittedKey& key : fit.report.keys) {
            text +=
                fmt::format("{:<28}{:>16}{:>16}{:>16}\n", key.name, shown(key.before, unit_of(key.name), 5),
                            shown(key.value, unit_of(key.name), 5),
                            shown(half_width(key, fit.report), unit_of(key.name), 3));
        }
        text += fmt::format("mean |ln(predicted / measured)| from 10 us on: {:.3f}, {:.3f} before\n",
                            fit.report.mean_log_error, fit.mean_log_error_before);
    }
    for (const LeftOut& key : fit.left_out) {
        text += fmt::format("{:<28}not determined: {}\n", key.key, key.why);
    }
    return text;
}

Json json_of(const TableFit& fit, const std::string& path, const std::string& id, std::size_t rows) {
    Json determined = Json::array(), left_out = Json::array();
    for (const validate::FittedKey& key : fit.report.keys) {
        determined.push_back({{"key", key.name},
                              {"unit", unit_of(key.name)},
                              {"before", key.before},
                              {"value", key.value},
                              {"interval", half_width(key, fit.report)}});
    }
    for (const LeftOut& key : fit.left_out) left_out.push_back({{"key", key.key}, {"why", key.why}});
    return {{"schema", "warptime.table_calibration/1"},
            {"table", path},
            {"gpu", id},
            {"rows", rows},
            {"mean_log_error_before", fit.mean_log_error_before},
            {"mean_log_error", fit.report.keys.empty() ? Json() : Json(fit.report.mean_log_error)},
            {"determined", std::move(determined)},
            {"not_determined", std::move(left_out)}};
}

}  // namespace

int calibrate_table(const Arguments& arguments) {
    for (const char* option : {"suite", "plan", "only", "list", "date", "sources"}) {
        if (arguments.has(option)) {
            throw UsageError(
                option, arguments.get(option).value_or(""),
                "no such option with --data TABLE.csv, which takes --gpu, --set, --keys, --output, "
                "--dry-run and --json");
        }
    }
    const std::string id = as_usage([&] { return hw::sheet_id_of(required_gpu(arguments)); });
    const bool dry = arguments.has("dry_run");
    const std::string output = arguments.get("output").value_or("");
    if (!dry) {
        if (output.empty()) throw UsageError("output", "", "a file for the sheet, -o my.toml, or --dry-run");
        require_new_sheet(output);
    }
    const MeasuredTable table = read_measured_table(arguments);
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const MeasuredRow& row) { return row.question.chip->gpu.id != id; })) {
        throw UsageError(table.path + " gpu", "rows of another GPU", "rows of " + id + " alone");
    }
    std::vector<hw::Setting> settings = read_settings(arguments);
    const hw::Gpu start = load_requested_gpu(id, settings);
    const auto engine = make_engine(default_engine);
    const TableFit fit = fit_what_is_determined(candidates(arguments, start), table, *engine, start);
    const auto report = arguments.has("json") ? json_of(fit, table.path, id, table.rows.size()).dump(2) + "\n"
                                              : text_of(fit, table.path, id, table.rows.size());
    print(report);
    for (const std::string& failure : table.failures) print_message(failure);
    if (fit.report.keys.empty()) {
        print_message(fmt::format("{} rows of {} determine no constant; more rows or other sizes may",
                                  table.rows.size(), table.path));
        return exit_cannot_predict;
    }
    if (!dry) {
        for (const validate::FittedKey& key : fit.report.keys) {
            const std::string_view unit = unit_of(key.name);
            settings.push_back(hw::parse_setting(fmt::format(
                "gpu.{}={:.17g}{}{}", key.name, key.value, unit == "1" ? "" : " ", unit == "1" ? "" : unit)));
        }
        const hw::Gpu fitted = load_requested_gpu(id, settings);
        write_new_sheet(
            output, reports::sheet_text(fitted, id, fitted.name + ", calibrated",
                                        fmt::format("fitted to {} rows of {}", fit.report.rows,
                                                    std::filesystem::path(table.path).filename().string())));
    }
    return table.failed > 0 ? exit_some_rows_failed : exit_fine;
}

}  // namespace warptime::cli
