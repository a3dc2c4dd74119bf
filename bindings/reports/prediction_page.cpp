// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/prediction_page.hpp"

#include "bindings/reports/html.hpp"
#include "hw/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace warptime::reports {

namespace {

using Json = nlohmann::ordered_json;
using html::Bar;
using html::escaped;

constexpr double least_share = 0.0005;  ///< smaller parts are no more than a line's width

std::string us_text(double us) {
    return us < 1.0 ? fmt::format("{:.4g} ns", 1e3 * us) : fmt::format("{:.4g} us", us);
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

/// "m 4096, n 4096": the members of an object but for one.
std::string members_text(const Json& object, const std::string& without) {
    std::string text;
    for (const auto& [name, value] : object.items()) {
        if (name == without || value.is_null()) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value_text(value));
    }
    return escaped(text);
}

std::string inputs_text(const Json& inputs) {
    std::string text;
    for (const auto& [name, value] : inputs.items()) {
        text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name,
                            value.is_number() ? value.get<double>() : 0.0);
    }
    return text;
}

std::string head(const Json& report) {
    const Json& achieved = report.at("achieved");
    const Json& held = report.at("occupancy");
    std::string html = fmt::format(
        "<h1>{} on {}</h1><p class='quiet'>{}<br>{}, engine {}, warptime {}</p>",
        escaped(value_text(report.at("operation").at("op"))), escaped(value_text(report.at("gpu"))),
        members_text(report.at("operation"), "op"), members_text(report.at("conditions"), ""),
        escaped(value_text(report.at("engine"))), escaped(value_text(report.at("version"))));
    html += fmt::format(
        "<p><span class='big'>{}</span> &nbsp; 80 % between {} and {}<br>limited by <b>{}</b> (class {}), "
        "{}; band from: {}</p>",
        us_text(report.at("time_us")), us_text(report.at("low_us")), us_text(report.at("high_us")),
        escaped(value_text(report.at("limiter"))), escaped(value_text(report.at("class"))),
        escaped(value_text(report.at("status"))), escaped(value_text(report.at("band_source"))));
    html += html::table(
        {},
        {{"arithmetic", fmt::format("{:.4g} TFLOP/s", achieved.at("flops_per_s").get<double>() / 1e12)},
         {"DRAM", fmt::format("{:.4g} TB/s", achieved.at("dram_bytes_per_s").get<double>() / 1e12)},
         {"L2", fmt::format("{:.4g} TB/s", achieved.at("l2_bytes_per_s").get<double>() / 1e12)},
         {"occupancy",
          fmt::format("{} CTAs, {} warps per SM (limit {}, next {})", held.at("ctas_per_sm").dump(),
                      held.at("warps_per_sm").dump(), escaped(value_text(held.at("limit"))),
                      escaped(value_text(held.at("next_limit"))))},
         {"waves", fmt::format("{:.3g}", report.at("waves").get<double>())},
         {"clock, power", fmt::format("{:.0f} MHz, {:.0f} W", report.at("clock_mhz").get<double>(),
                                      report.at("power_w").get<double>())},
         {"constants", fmt::format("{} fitted, {} of them inherited", report.at("fitted_constants").dump(),
                                   report.at("inherited_constants").dump())}});
    if (report.contains("settings")) {
        html += "<p><b>What if:</b> " + members_text(report.at("settings"), "") + "</p>";
    }
    if (report.contains("warnings")) {
        for (const Json& warning : report.at("warnings")) {
            html += "<p><b>Warning:</b> " + escaped(value_text(warning)) + "</p>";
        }
    }
    return html;
}

std::string shares_part(const Json& report) {
    const double time = report.at("time_us");
    std::vector<Bar> bars;
    for (const auto& [name, share] : report.at("shares").items()) {
        const double part = share;
        if (part < least_share) continue;
        bars.push_back({name, part, fmt::format("{:.1f} %, {}", 100.0 * part, us_text(part * time)), name});
    }
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.value > b.value; });
    return "<h2>Where the time goes</h2>\n" + html::bars(bars, 1.0) +
           "<p class='quiet'>Shares of the time by cause; they add up to 100 %.</p>";
}

std::string bounds_part(const Json& report) {
    std::vector<Bar> bars;
    double most = report.at("high_us");
    for (const Json& bound : report.at("bounds")) {
        const double time = bound.at("time_us");
        most = std::max(most, time);
        bars.push_back({bound.at("name"), time, us_text(time), inputs_text(bound.at("inputs"))});
    }
    return "<h2>What bounds it</h2>\n" +
           html::bars(bars, most, report.at("time_us"), report.at("low_us"), report.at("high_us")) +
           "<p class='quiet'>The time if one unit alone held the kernel back; the line is the predicted time "
           "with its band. The mouse shows the numbers behind a bound.</p>";
}

std::string utilization_part(const Json& report) {
    std::vector<Bar> bars;
    for (const auto& [name, value] : report.at("utilization").items()) {
        const double share = value;
        bars.push_back(
            {name == "tensor" ? "tensor_core" : name, share, fmt::format("{:.1f} %", 100.0 * share), name});
    }
    return "<h2>How busy the units are</h2>\n" + html::bars(bars, 1.0);
}

std::string help_part(const Json& report) {
    if (!report.contains("would_help") || report.at("would_help").empty()) return "";
    const double time = report.at("time_us");
    std::vector<Bar> bars;
    double most = 0.0;
    for (const Json& help : report.at("would_help")) {
        const double saved = help.at("saved_us");
        most = std::max(most, saved);
        std::string keys;
        for (const Json& key : help.at("keys")) keys += (keys.empty() ? "" : ", ") + value_text(key);
        bars.push_back({value_text(help.at("resource")), saved,
                        fmt::format("{}, {:.1f} %", us_text(saved), 100.0 * saved / time), keys});
    }
    return "<h2>What would help</h2>\n" + html::bars(bars, most) +
           "<p class='quiet'>Time saved by one resource at twice its speed, the kernels as they are. The "
           "mouse shows the keys.</p>";
}

std::string rest(const Json& report) {
    std::vector<html::Cells> counters, steps;
    for (const auto& [name, value] : report.at("counters").items()) {
        counters.push_back({"<code>" + escaped(name) + "</code>",
                            value.is_number() ? fmt::format("{:.10g}", value.get<double>()) : ""});
    }
    for (const Json& step : report.at("kernels")) {
        steps.push_back({escaped(value_text(step.at("kind"))) + " " + escaped(value_text(step.at("name"))),
                         us_text(step.at("time_us"))});
    }
    return "<h2>Steps</h2>\n" + html::table({"step", "time"}, steps) +
           "<h2>Counters, as Nsight Compute names them</h2>\n" + html::table({"counter", "value"}, counters);
}

}  // namespace

std::string prediction_page(const std::string& json, const std::string& text) {
    try {
        const Json report = Json::parse(json);
        const std::string body =
            head(report) + shares_part(report) + bounds_part(report) + utilization_part(report) +
            help_part(report) + rest(report) +
            html::details("The explanation as text", "<pre>" + escaped(text) + "</pre>") +
            html::details("The answer as JSON", "<pre>" + escaped(report.dump(2)) + "</pre>");
        return html::page(fmt::format("warptime: {} on {}", value_text(report.at("operation").at("op")),
                                      value_text(report.at("gpu"))),
                          body);
    } catch (const Json::exception& error) {
        throw Error("report", error.what(), "the JSON of a prediction");
    }
}

}  // namespace warptime::reports
