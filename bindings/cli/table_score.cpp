// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/table_score.hpp"

#include "bindings/cli/measured_table.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/quantity.hpp"
#include "validate/statistics.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace warptime::cli {

namespace {

using hw::us_per_s;
using Json = nlohmann::ordered_json;

struct Summary {
    std::size_t rows = 0;
    double mape = 0.0, median = 0.0, p90 = 0.0, bias = 0.0, in_band = 0.0;
};

Summary summary_of(const std::vector<const MeasuredRow*>& rows) {
    std::vector<double> errors;
    Summary summary;
    for (const MeasuredRow* row : rows) {
        errors.push_back(row->error());
        summary.bias += row->ratio() - 1.0;
        summary.in_band += row->in_band() ? 1.0 : 0.0;
    }
    summary.rows = rows.size();
    if (rows.empty()) return summary;
    const auto count = static_cast<double>(rows.size());
    summary.mape = validate::mean(errors);
    summary.median = validate::median(errors);
    constexpr double most = 0.9;
    summary.p90 = validate::quantile(errors, most);
    summary.bias /= count;
    summary.in_band /= count;
    return summary;
}

constexpr double percent = 100.0;

Json json_of(const Summary& s) {
    return {{"rows", s.rows}, {"mape", s.mape}, {"median", s.median},
            {"p90", s.p90},   {"bias", s.bias}, {"in_band_80", s.in_band}};
}

std::string line_of(const char* name, const Summary& s) {
    if (s.rows == 0) return fmt::format("{:<12}{:>6}\n", name, 0);
    return fmt::format("{:<12}{:>6}{:>9.2f} %{:>9.2f} %{:>9.2f} %{:>+9.2f} %{:>9.0f} %\n", name, s.rows,
                       percent * s.mape, percent * s.median, percent * s.p90, percent * s.bias,
                       percent * s.in_band);
}

std::size_t worst_shown(const Arguments& arguments) {
    const std::string text = arguments.get("worst").value_or("3");
    if (text == "0") return 0;
    return as_usage([&] { return static_cast<std::size_t>(workloads::parse_size(text, "worst")); });
}

}  // namespace

int score_table(const Arguments& arguments) {
    for (const char* option :
         {"budget", "sources", "probes", "calibration", "suite", "check", "tighten", "rows", "held_out",
          "compiled", "kernels_that_ran", "hashes", "unchanged", "sample"}) {
        if (arguments.has(option)) {
            throw UsageError(
                option, arguments.get(option).value_or(""),
                "no such option with --data TABLE.csv, which takes --gpu, --set, --engine, --worst "
                "and --json");
        }
    }
    const MeasuredTable scored = read_measured_table(arguments);
    const std::string& path = scored.path;
    std::vector<const MeasuredRow*> all, from_10us, shorter;
    constexpr double short_time = 10e-6;
    for (const MeasuredRow& row : scored.rows) {
        (row.measured < short_time ? shorter : from_10us).push_back(&row);
        all.push_back(&row);
    }
    std::vector<const MeasuredRow*> worst = all;
    const std::size_t count = std::min(worst.size(), worst_shown(arguments));
    std::stable_sort(worst.begin(), worst.end(),
                     [](const MeasuredRow* a, const MeasuredRow* b) { return a->error() > b->error(); });
    worst.resize(count);
    if (arguments.has("json")) {
        Json json{{"schema", "warptime.table_score/1"},
                  {"table", path},
                  {"gpu", required_gpu(arguments)},
                  {"failed", scored.failed},
                  {"all", json_of(summary_of(all))},
                  {"from_10us", json_of(summary_of(from_10us))},
                  {"below_10us", json_of(summary_of(shorter))}};
        json["worst"] = Json::array();
        for (const MeasuredRow* row : worst) {
            json["worst"].push_back({{"row", row->where},
                                     {"case", row->text},
                                     {"measured_us", row->measured * us_per_s},
                                     {"predicted_us", row->estimate.time * us_per_s}});
        }
        json["failures"] = scored.failures;
        print(json.dump(2) + "\n");
    } else {
        std::string text =
            fmt::format("{} on {}\n{:<12}{:>6}{:>11}{:>11}{:>11}{:>11}{:>11}\n", path,
                        required_gpu(arguments), "", "rows", "MAPE", "median", "p90", "bias", "in band");
        text += line_of("all", summary_of(all));
        text += line_of("from 10 us", summary_of(from_10us));
        text += line_of("shorter", summary_of(shorter));
        for (const MeasuredRow* row : worst) {
            text += fmt::format("worst: {:+.1f} % {} ({}: measured {:.4g} us, predicted {:.4g} us)\n",
                                percent * (row->ratio() - 1.0), row->text, row->where,
                                row->measured * us_per_s, row->estimate.time * us_per_s);
        }
        print(text);
    }
    for (const std::string& failure : scored.failures) print_message(failure);
    if (scored.failed > 0) {
        print_message(fmt::format("{} of {} rows cannot be predicted", scored.failed,
                                  scored.failed + scored.rows.size()));
        return exit_some_rows_failed;
    }
    return exit_fine;
}

}  // namespace warptime::cli
