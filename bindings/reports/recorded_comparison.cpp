// Finds the recorded row of a case and writes it beside the prediction.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/recorded_comparison.hpp"

#include "bindings/reports/quantity_text.hpp"
#include "validate/recorded_case.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace warptime::reports {

namespace {

namespace prediction = model::prediction;

constexpr double seconds_per_us = 1e-6;

bool is_same_case(const workloads::Operation& a, const workloads::Operation& b) {
    const auto parameters = workloads::find_operator(a.op).parameters;
    return a.op == b.op && std::all_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
               return workloads::value_or_default(a, parameter.name) ==
                      workloads::value_or_default(b, parameter.name);
           });
}

double error_of(const validate::RecordedRow& row, const prediction::Prediction& p) {
    const double recorded = row.value * seconds_per_us;
    return (p.time - recorded) / recorded;
}

bool is_in_band(const validate::RecordedRow& row, const prediction::Prediction& p) {
    const double recorded = row.value * seconds_per_us;
    return p.low <= recorded && recorded <= p.high;
}

}  // namespace

std::optional<validate::RecordedRow> recorded_row_of(const validate::RecordedRows& rows,
                                                     const workloads::Operation& operation,
                                                     const prediction::Conditions& conditions,
                                                     std::string_view gpu) {
    const validate::RecordedRow* newest = nullptr;
    for (const validate::RecordedRow& row : rows.rows) {
        if (row.gpu == gpu && row.op == operation.op && validate::is_predictable(row) &&
            validate::conditions_of(row) == conditions &&
            is_same_case(operation, validate::operation_of(row)) &&
            (newest == nullptr || newest->date <= row.date)) {
            newest = &row;
        }
    }
    return newest != nullptr ? std::optional(*newest) : std::nullopt;
}

std::string recorded_text(const std::optional<validate::RecordedRow>& row, const prediction::Prediction& p) {
    if (!row) {
        return fmt::format("{:<12}this case was not recorded\n", "recorded");
    }
    return fmt::format("{:<12}{}, median of {} on {}, {} ({})\n{:<12}{:+.1f} %, {} the band\n", "recorded",
                       time_text(row->value * seconds_per_us), row->samples, row->board, row->date,
                       row->library, "error", 100.0 * error_of(*row, p),
                       is_in_band(*row, p) ? "inside" : "outside");
}

std::string with_recorded_json(const std::string& json, const std::optional<validate::RecordedRow>& row,
                               const prediction::Prediction& p) {
    auto report = nlohmann::ordered_json::parse(json);
    report["recorded"] = nullptr;
    if (row) {
        report["recorded"] = {{"time_us", row->value},          {"error", error_of(*row, p)},
                              {"in_band", is_in_band(*row, p)}, {"samples", row->samples},
                              {"method", row->method},          {"board", row->board},
                              {"library", row->library},        {"date", row->date}};
    }
    return report.dump(2);
}

}  // namespace warptime::reports
