// The program warptime_fit: fits calibration constants, or the widths of the bands, to recorded rows and
// writes them into hw/calibrations/<gpu>.toml. A tool of the repository, not installed.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/unit.hpp"
#include "model/analytical/engine.hpp"
#include "validate/bands.hpp"
#include "validate/calibration_file.hpp"
#include "validate/engine_fit_model.hpp"
#include "validate/fit.hpp"
#include "validate/replace_file.hpp"
#include "workloads/csv.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace {

namespace fs = std::filesystem;
namespace hw = warptime::hw;
namespace validate = warptime::validate;

struct Arguments {
    std::string gpu;
    std::vector<std::string> keys;
    std::vector<std::string> suites;
    std::vector<std::string> settings;
    std::string data;
    std::string calibrations;
    std::string date;
    std::string list;
    bool bands = false;
    bool dry_run = false;
    validate::FitKeyOptions fit;
};

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[11] = {};
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

fs::path calibration_path(const Arguments& arguments) {
    fs::path folder = arguments.calibrations;
    if (folder.empty()) folder = fs::path("hw") / "calibrations";
    if (arguments.calibrations.empty() && !fs::is_directory(folder)) folder = WARPTIME_CALIBRATIONS_DIR;
    return folder / (arguments.gpu + ".toml");
}

std::optional<std::string> read_text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// A value with its unit, to so many significant digits.
std::string shown(double value, std::string_view unit, int digits) {
    return hw::format_value(std::stod(fmt::format("{:.{}g}", value, digits)), unit);
}

std::string source_of(const Arguments& arguments, std::string_view what) {
    const std::string suites =
        arguments.suites.empty() ? "all suites" : fmt::format("{}", fmt::join(arguments.suites, ", "));
    return fmt::format("{} of {}", what, suites);
}

std::vector<validate::CalibrationEntry> fit(const Arguments& arguments, const validate::RecordedRows& rows,
                                            const warptime::model::prediction::Engine& engine,
                                            hw::Gpu<double>& gpu) {
    std::vector<validate::FitKey> keys;
    for (const std::string& text : arguments.keys) keys.push_back(validate::parse_fit_key(text, gpu));
    validate::EngineFitModel model(rows, engine, gpu, arguments.suites, validate::RowsTaken::fit_only);
    const validate::FitReport report = validate::fit_keys(gpu, keys, model.model(), arguments.fit);

    fmt::print("{} fit rows, {} refused; loss {:.5g} -> {:.5g}\n", report.rows, report.refused,
               report.loss_before, report.loss_after);
    for (const std::string& reason : model.refusals()) fmt::print("  refused: {}\n", reason);
    fmt::print(
        "residual: MAPE {:.2f} % (mean |ln(p/t)| {:.4f}) of {} rows; |p-t| {:.3f} us of {} rows < 10 us\n",
        100.0 * report.mape, report.mean_log_error, report.rows - report.short_rows, report.short_mean_us,
        report.short_rows);
    std::vector<validate::CalibrationEntry> entries;
    for (const validate::FittedKey& key : report.keys) {
        const std::string_view unit = hw::key_info[hw::key_index(key.name)].unit;
        const bool known = std::isfinite(key.half_width_95);
        const std::string width =
            known ? "+- " + shown(key.half_width_95, unit, 2) + " (95 %)"
                  : std::string(key.at_bound ? "on its bound, no interval"
                                             : "not determined by these rows, not written");
        fmt::print("  {:<28} {} -> {}  {}\n", key.name, shown(key.before, unit, 6), shown(key.value, unit, 6),
                   width);
        if (!known && !key.at_bound) continue;
        entries.push_back({key.name, key.value, known ? key.half_width_80 : 0.0,
                           static_cast<int>(report.rows),
                           std::isfinite(report.mean_log_error) ? report.mean_log_error : 0.0, arguments.date,
                           source_of(arguments, "least squares on the fit rows")});
    }
    return entries;
}

std::vector<validate::CalibrationEntry> bands(const Arguments& arguments, const validate::RecordedRows& rows,
                                              const warptime::model::prediction::Engine& engine,
                                              const hw::Gpu<double>& gpu) {
    validate::EngineFitModel model(rows, engine, gpu, arguments.suites,
                                   validate::RowsTaken::fit_and_development);
    std::vector<validate::CalibrationEntry> entries;
    for (const validate::BandWidth& band : validate::band_widths(model.estimates())) {
        const std::string_view unit = hw::key_info[hw::key_index(band.key)].unit;
        fmt::print("  {:<28} {}  of {} rows, mean {}\n", band.key, shown(band.value, unit, 4), band.rows,
                   shown(band.residual, unit, 4));
        entries.push_back(
            {band.key, band.value, 0.0, static_cast<int>(band.rows), band.residual, arguments.date,
             source_of(arguments, "80 % quantile of the residuals of fit and development rows")});
    }
    return entries;
}

/// Fit and development rows beside their predictions: what mechanisms may be looked for in.
void list(const Arguments& arguments, const validate::RecordedRows& rows,
          const warptime::model::prediction::Engine& engine, const hw::Gpu<double>& gpu) {
    validate::EngineFitModel model(rows, engine, gpu, arguments.suites,
                                   validate::RowsTaken::fit_and_development);
    constexpr double us = 1e6;
    std::string text;
    warptime::workloads::append_csv_record(text, {"suite", "op", "params", "cache", "measured_us",
                                                  "predicted_us", "low_us", "high_us", "limiter", "class"});
    for (const validate::FitRowEstimate& one : model.estimates()) {
        const auto& estimate = one.estimate;
        const bool refused = !(estimate.time > 0.0);
        const auto number = [&](double seconds) {
            return refused ? std::string() : fmt::format("{:.6g}", seconds * us);
        };
        warptime::workloads::append_csv_record(
            text, {one.row->suite, one.row->op, one.row->params, one.row->cache,
                   fmt::format("{}", one.measured_us), number(estimate.time), number(estimate.low),
                   number(estimate.high), refused ? "" : std::string(to_string(estimate.limiter)),
                   refused ? "" : std::string(to_string(estimate.band_class))});
    }
    validate::replace_file(arguments.list, text);
}

void run(const Arguments& arguments) {
    std::vector<hw::Setting> settings;
    for (const std::string& text : arguments.settings) settings.push_back(hw::parse_setting(text));
    const fs::path path = calibration_path(arguments);
    const std::optional<std::string> text = read_text(path);
    hw::Gpu<double> gpu = hw::load_gpu(arguments.gpu);
    if (text) validate::apply_calibration(*text, path.filename().string(), gpu);
    hw::apply_settings(gpu, settings);

    const validate::RecordedRows rows = validate::read_recorded(validate::find_recorded(arguments.data));
    const auto engine = warptime::model::analytical::make_engine();
    if (!arguments.list.empty()) list(arguments, rows, *engine, gpu);
    std::vector<validate::CalibrationEntry> entries;
    if (!arguments.keys.empty()) entries = fit(arguments, rows, *engine, gpu);
    if (arguments.bands) {
        const auto widths = bands(arguments, rows, *engine, gpu);
        entries.insert(entries.end(), widths.begin(), widths.end());
    }
    if (arguments.dry_run || entries.empty()) {
        fmt::print("nothing written\n");
        return;
    }
    const std::string before = text ? *text : fmt::format("[calibration]\ngpu = \"{}\"\n", arguments.gpu);
    validate::replace_file(path, validate::update_calibration(before, entries));
    fmt::print("wrote {} entries to {}; build again to embed them\n", entries.size(), path.string());
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    arguments.date = today();
    CLI::App app{"Fits calibration constants to recorded rows (fit rows only)"};
    app.footer(
        "Example: warptime_fit --gpu h200-sxm --keys dram.read_efficiency,launch.floor=0.3us..3us "
        "--suites copy_add");
    app.add_option("--gpu", arguments.gpu, "sheet id")->required();
    app.add_option("--keys", arguments.keys, "keys to fit, each with optional bounds KEY=LOW..HIGH")
        ->delimiter(',');
    app.add_option("--suites", arguments.suites, "suites whose rows are used; default: all")->delimiter(',');
    app.add_option("--set", arguments.settings, "change the GPU first, KEY=VALUE");
    app.add_option("--data", arguments.data, "folder of recorded rows");
    app.add_option("--calibrations", arguments.calibrations, "folder of calibration files");
    app.add_option("--date", arguments.date, "date written, ISO 8601; default: today");
    app.add_option("--huber", arguments.fit.huber_delta, "residuals beyond this count linearly");
    app.add_option("--rounds", arguments.fit.rounds, "how often the library's kernels are chosen anew");
    app.add_option("--list", arguments.list,
                   "write fit and development rows beside their predictions, as CSV");
    app.add_flag("--bands", arguments.bands, "compute the widths of the 80 % bands (after the fit)");
    app.add_flag("--dry-run", arguments.dry_run, "print, write nothing");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (arguments.keys.empty() && !arguments.bands && arguments.list.empty()) {
        fmt::print(stderr, "warptime_fit: --keys, --bands or --list is required\n");
        return 2;
    }
    try {
        run(arguments);
    } catch (const warptime::Error& error) {
        fmt::print(stderr, "warptime_fit: {}\n", error.what());
        return 1;
    }
    return 0;
}
