// Writes the JSON contract with ordered keys, so that equal predictions give equal bytes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/prediction_json.hpp"

#include "bindings/reports/version.hpp"
#include "hw/quantity.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <utility>

namespace warptime::reports {

namespace {

using namespace model::prediction;
using Json = nlohmann::ordered_json;

using hw::us_per_s;
constexpr double hz_per_mhz = 1e6;

Json object_of(const std::vector<std::pair<std::string, double>>& entries) {
    Json object = Json::object();
    for (const auto& [name, value] : entries) {
        object[name] = value;
    }
    return object;
}

Json json_of(const ReportParameter& parameter) {
    std::int64_t number = 0;
    const char* const end = parameter.text.data() + parameter.text.size();
    if (parameter.number && std::from_chars(parameter.text.data(), end, number).ptr == end) {
        return number;
    }
    return parameter.text;
}

Json operation_json(const ReportContext& context) {
    Json operation{{"op", context.op}};
    for (const ReportParameter& parameter : context.parameters) {
        operation[parameter.name] = json_of(parameter);
    }
    return operation;
}

Json conditions_json(const Conditions& conditions) {
    const std::string in_turn = in_turn_text(conditions);
    return {{"cache", to_string(conditions.cache)},
            {"duty", to_string(conditions.duty)},
            {"data", to_string(conditions.data)},
            {"available_sms", conditions.available_sms > 0 ? Json(conditions.available_sms) : Json()},
            {"clock_mhz", conditions.clock_hz > 0 ? Json(conditions.clock_hz / hz_per_mhz) : Json()},
            {"ecc", conditions.ecc != Ecc::as_shipped ? Json(to_string(conditions.ecc)) : Json()},
            {"between", conditions.between > 0.0 ? Json(conditions.between) : Json()},
            {"in_turn", in_turn.empty() ? Json() : Json(in_turn)}};
}

Json settings_json(const ReportContext& context) {
    Json settings = Json::object();
    for (const auto& [key, value] : context.settings) {
        settings[key] = value;
    }
    return settings;
}

Json bounds_json(const std::vector<Bound>& bounds) {
    Json list = Json::array();
    for (const Bound& bound : bounds) {
        list.push_back({{"name", to_string(bound.limiter)},
                        {"time_us", bound.time * us_per_s},
                        {"inputs", object_of(bound.inputs)}});
    }
    return list;
}

Json steps_json(const std::vector<StepReport>& steps) {
    Json list = Json::array();
    for (const StepReport& step : steps) {
        list.push_back({{"kind", step.kind}, {"name", step.name}, {"time_us", step.time * us_per_s}});
    }
    return list;
}

std::string text_of(const Json& json, int indent) {
    // Text from outside (a path, a cell) need not be UTF-8, but the output must be.
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string request_json(const ReportContext& context) {
    Json json{{"version", program_version()},
              {"gpu", context.gpu},
              {"operation", operation_json(context)},
              {"conditions", conditions_json(context.conditions)},
              {"engine", context.engine}};
    if (!context.settings.empty()) {
        json["settings"] = settings_json(context);
    }
    return text_of(json, -1);
}

std::string to_json(const Prediction& p, const ReportContext& context, int indent) {
    const Utilization& u = p.utilization;
    Json json;
    json["schema"] = "warptime.prediction/1";
    json["version"] = program_version();
    json["gpu"] = context.gpu;
    json["operation"] = operation_json(context);
    json["conditions"] = conditions_json(context.conditions);
    json["engine"] = context.engine;
    if (!context.settings.empty()) {
        json["settings"] = settings_json(context);
    }
    json["time_us"] = p.time * us_per_s;
    json["low_us"] = p.low * us_per_s;
    json["high_us"] = p.high * us_per_s;
    json["span_us"] = p.span * us_per_s;
    json["status"] = to_string(p.status);
    json["band_source"] = p.band_source;
    if (!p.warnings.empty()) {
        json["warnings"] = p.warnings;
    }
    json["class"] = to_string(p.kernel_class);
    json["limiter"] = to_string(p.limiter);
    json["bounds"] = bounds_json(p.bounds);
    json["shares"] = object_of(p.shares);
    json["utilization"] = {{"tensor", u.tensor}, {"fp32", u.fp32}, {"issue", u.issue}, {"shared", u.shared},
                           {"l1", u.l1},         {"l2", u.l2},     {"dram", u.dram}};
    json["achieved"] = {{"flops_per_s", p.flops_per_s},
                        {"dram_bytes_per_s", p.dram_bytes_per_s},
                        {"l2_bytes_per_s", p.l2_bytes_per_s}};
    json["occupancy"] = {{"ctas_per_sm", p.occupancy.ctas_per_sm},
                         {"warps_per_sm", p.occupancy.warps_per_sm},
                         {"limit", p.occupancy.limit},
                         {"next_limit", p.occupancy.next_limit}};
    json["waves"] = p.waves;
    json["counters"] = object_of(p.counters);
    json["clock_mhz"] = p.clock_hz / hz_per_mhz;
    json["power_w"] = p.power_w;
    json["fitted_constants"] = p.constants.own + p.constants.inherited;
    json["own_constants"] = p.constants.own;
    json["inherited_constants"] = p.constants.inherited;
    json["kernels"] = steps_json(p.steps);
    return text_of(json, indent);
}

std::string to_json(const Error& error, int indent) {
    const Json json{{"error",
                     {{"parameter", error.parameter()},
                      {"value", error.value()},
                      {"expected", error.expected()},
                      {"message", error.what()}}}};
    return text_of(json, indent);
}

}  // namespace warptime::reports
