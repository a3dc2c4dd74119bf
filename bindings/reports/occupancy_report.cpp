// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/occupancy_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warptime::reports {

namespace {

namespace machine = model::machine;
using Json = nlohmann::ordered_json;

std::string count_text(int ctas) {
    return ctas == machine::unlimited ? "no limit" : fmt::format("{} CTAs", ctas);
}

}  // namespace

OccupancyReport occupancy_report(const machine::CtaResources& cta, const hw::Gpu& gpu) {
    const machine::SmLimits limits = machine::limits_of(gpu);
    machine::check(cta, limits);
    return {gpu.id,
            gpu.settings,
            limits.threads / limits.threads_per_warp,
            cta,
            machine::occupancy(cta, limits),
            hints_for_one_more(cta, limits)};
}

std::string text_of(const OccupancyReport& report) {
    const machine::Occupancy& result = report.result;
    std::string text = fmt::format("{:<12}{}\n", "gpu", report.gpu);
    for (const auto& [key, value] : report.settings) {
        text += fmt::format("{:<12}{}={}\n", "setting", key, value);
    }
    text += fmt::format(
        "{:<12}{} CTAs and {} of {} warps per SM\n{:<12}{}, next {}\n{:<12}{} B per CTA allocated, "
        "{} B "
        "per SM carved out of L1\n\nCTAs that each resource alone allows\n",
        "resident", result.ctas_per_sm, result.warps_per_sm, report.warps_max, "limit",
        to_string(result.limit), to_string(result.next_limit), "shared", result.shared_per_cta,
        result.shared_per_sm);
    for (std::size_t i = 0; i < machine::limit_count; ++i) {
        const auto limit = static_cast<machine::Limit>(i);
        text += fmt::format("  {:<12}{}\n", to_string(limit), count_text(result.ctas_by(limit)));
    }
    text += fmt::format("\nfor {} CTAs, all of\n", result.ctas_per_sm + 1);
    for (const OccupancyHint& hint : report.hints) {
        text += hint.largest ? fmt::format("  {:<14}at most {} instead of {}\n", hint.resource, *hint.largest,
                                           hint.given)
                             : fmt::format("  {:<14}cannot: the limit of the SM itself\n", hint.resource);
    }
    return text;
}

std::string to_json(const OccupancyReport& report, int indent) {
    const machine::CtaResources& cta = report.cta;
    const machine::Occupancy& result = report.result;
    Json by_limit = Json::object();
    for (std::size_t i = 0; i < machine::limit_count; ++i) {
        const auto limit = static_cast<machine::Limit>(i);
        const int ctas = result.ctas_by(limit);
        by_limit[std::string(to_string(limit))] = ctas == machine::unlimited ? Json() : Json(ctas);
    }
    Json one_more = Json::object();
    for (const OccupancyHint& hint : report.hints) {
        one_more[hint.resource] = hint.largest ? Json(*hint.largest) : Json();
    }
    Json object{{"schema", "warptime.occupancy/1"},
                {"gpu", report.gpu},
                {"cta",
                 {{"threads", cta.threads},
                  {"registers", cta.registers_per_thread},
                  {"shared_bytes", cta.dynamic_shared},
                  {"static_shared_bytes", cta.static_shared},
                  {"barriers", cta.named_barriers}}},
                {"ctas_per_sm", result.ctas_per_sm},
                {"warps_per_sm", result.warps_per_sm},
                {"limit", to_string(result.limit)},
                {"next_limit", to_string(result.next_limit)},
                {"ctas_by_limit", std::move(by_limit)},
                {"shared_per_cta", result.shared_per_cta},
                {"shared_per_sm", result.shared_per_sm},
                {"largest_for_one_more", std::move(one_more)}};
    for (const auto& [key, value] : report.settings) {
        object["settings"][key] = value;
    }
    return object.dump(indent);
}

}  // namespace warptime::reports
