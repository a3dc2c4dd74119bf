// The report of an import as text and JSON, and its calls as a step.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/imports/import_profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace warptime::imports {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t label_width = 64;
constexpr double percent = 100.0;

std::string cut(const std::string& text, std::size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

Json time_json(const std::optional<Time>& time) {
    if (!time) return nullptr;
    return {{"time_us", time->us}, {"low_us", time->low}, {"high_us", time->high}};
}

double share(double part, double whole) {
    return whole > 0.0 ? percent * part / whole : 0.0;
}

}  // namespace

std::string import_text(const Import& import, std::size_t most) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{} on {}: {} kinds of work in {} calls\n",
                   import.board.empty() ? "profile" : import.board, import.gpu, import.rows.size(),
                   import.order.size());
    fmt::format_to(out, "measured  {:>12.1f} us of kernels; {:.1f} % by known operators\n",
                   import.measured_us, share(import.matched_us, import.measured_us));
    fmt::format_to(out, "predicted {:>12.1f} us ({:.1f} to {:.1f}) for {:.1f} us of them: {:+.1f} %\n",
                   import.predicted.us, import.predicted.low, import.predicted.high, import.predicted_of_us,
                   share(import.predicted.us - import.predicted_of_us, import.predicted_of_us));
    if (import.has_times) {
        fmt::format_to(
            out,
            "span      {:>12.1f} us from the first start to the last end; the GPU idles {:.1f} % of it\n",
            import.span_us, share(import.span_us - import.busy_us, import.span_us));
    }
    if (import.retargeted) {
        fmt::format_to(out, "{:<9} {:>12.1f} us ({:.1f} to {:.1f}): {:.2f}x as fast\n", import.target,
                       import.retargeted->us, import.retargeted->low, import.retargeted->high,
                       import.retargeted->us > 0.0 ? import.measured_us / import.retargeted->us : 0.0);
    }
    fmt::format_to(out, "\n{:<{}} {:>6} {:>12} {:>12} {:>8} {:>11}  {:<8} {}{}\n", "work", label_width,
                   "calls", "measured us", "predicted us", "ratio", "excess us", "by", "limiter",
                   import.retargeted ? fmt::format("  {} us", import.target) : "");
    std::size_t shown = 0;
    for (const ImportedRow& row : import.rows) {
        if (most != 0 && shown++ == most) {
            fmt::format_to(out, "... {} more kinds of work; --top 0 shows all\n", import.rows.size() - most);
            break;
        }
        fmt::format_to(out, "{:<{}} {:>6} {:>12.1f} ", cut(row.label, label_width), label_width, row.count,
                       row.measured_us);
        if (row.predicted) {
            // Beyond the band: slower than the model's own doubt allows.
            const char* mark = row.measured_us > row.predicted->high ? "!" : " ";
            fmt::format_to(out, "{:>12.1f} {:>7.2f}{} {:>11.1f}", row.predicted->us,
                           row.predicted->us > 0.0 ? row.measured_us / row.predicted->us : 0.0, mark,
                           row.excess_us());
        } else {
            fmt::format_to(out, "{:>12} {:>8} {:>11}", "-", "-", "-");
        }
        fmt::format_to(out, "  {:<8} {}", to_string(row.match), row.limiter);
        if (row.retargeted) fmt::format_to(out, "  {:.1f}", row.retargeted->us);
        text += '\n';
    }
    text += "\n!: slower than the upper end of the prediction's band\n";
    return text;
}

std::string import_json(const Import& import) {
    Json rows = Json::array();
    for (const ImportedRow& row : import.rows) {
        Json one{{"work", row.label},
                 {"call", row.call},
                 {"kernel", row.kernel},
                 {"by", to_string(row.match)},
                 {"count", row.count},
                 {"kernels", row.kernels},
                 {"measured_us", row.measured_us},
                 {"predicted", time_json(row.predicted)},
                 {"excess_us", row.predicted ? Json(row.excess_us()) : Json(nullptr)},
                 {"slower_than_band", row.predicted && row.measured_us > row.predicted->high},
                 {"limiter", row.limiter}};
        if (!import.target.empty()) one["retargeted"] = time_json(row.retargeted);
        if (!row.refusal.empty()) one["refusal"] = row.refusal;
        rows.push_back(std::move(one));
    }
    Json object{{"schema", "warptime.import/1"},
                {"board", import.board},
                {"gpu", import.gpu},
                {"calls", import.order.size()},
                {"measured_us", import.measured_us},
                {"matched_us", import.matched_us},
                {"coverage", share(import.matched_us, import.measured_us) / percent},
                {"predicted", time_json(import.predicted)},
                {"predicted_of_us", import.predicted_of_us},
                {"span_us", import.has_times ? Json(import.span_us) : Json(nullptr)},
                {"busy_us", import.has_times ? Json(import.busy_us) : Json(nullptr)}};
    if (!import.target.empty()) {
        object["retarget"] = import.target;
        object["retargeted"] = time_json(import.retargeted);
    }
    object["rows"] = std::move(rows);
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string step_json(const Import& import, const std::string& name) {
    Json rows = Json::array();
    for (const std::size_t index : import.order) {
        const ImportedRow& row = import.rows[index];
        if (row.match == Match::matched) {
            for (const workloads::Operation& operation : row.operations) {
                Json one{{"op", operation.op}};
                for (const auto& [key, value] : operation.parameters) one[key] = value;
                rows.push_back(std::move(one));
            }
        } else {
            rows.push_back({{"op", "unknown"},
                            {"name", row.call.empty() ? cut(row.kernel, label_width) : row.call},
                            {"bytes", std::max(1.0, row.bytes)}});
        }
    }
    const Json step{{"schema", "warptime-step-1"}, {"name", name}, {"rows", std::move(rows)}};
    return step.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warptime::imports
