// A step's prediction as text, JSON, CSV and a timeline.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/version.hpp"
#include "bindings/steps/step_prediction.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace warptime::steps {

namespace {

using Json = nlohmann::ordered_json;
using model::system::Launching;

constexpr double percent = 100.0;

double share(double part, double whole) {
    return whole > 0.0 ? part / whole : 0.0;
}

std::string_view text_of(Launching launching) {
    return launching == Launching::eager ? "eager" : "graph";
}

std::string cut(const std::string& text, std::size_t width) {
    return text.size() <= width ? text : "..." + text.substr(text.size() - width + 3);
}

/// Sums by a label of the rows, the longest first.
template <class Label>
std::vector<std::pair<std::string, double>> sums_by(const StepFile& file, const StepPrediction& p,
                                                    Label&& label) {
    std::map<std::string, double> sums;
    for (std::size_t i = 0; i < file.rows.size(); ++i) sums[label(file.rows[i])] += p.rows[i].time_us;
    std::vector<std::pair<std::string, double>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

/// The first part of a module's path: "layers.0.mlp" gives "layers".
std::string top_of(const FileRow& row) {
    return row.module.empty() ? "-" : row.module.substr(0, row.module.find('.'));
}

void append_sums(std::string& text, std::string_view title,
                 const std::vector<std::pair<std::string, double>>& sums, double whole) {
    if (sums.size() < 2) return;
    constexpr std::size_t most = 8;
    fmt::format_to(std::back_inserter(text), "{:<12}", title);
    for (std::size_t i = 0; i < std::min(sums.size(), most); ++i) {
        fmt::format_to(std::back_inserter(text), "{}{} {:.1f} %", i == 0 ? "" : ", ", sums[i].first,
                       percent * share(sums[i].second, whole));
    }
    text += sums.size() > most ? fmt::format(", {} more\n", sums.size() - most) : "\n";
}

}  // namespace

std::string step_text(const StepFile& file, const StepPrediction& p, std::size_t most) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "step        {}, {} rows on {}, cache {}, engine {}\n",
                   p.name.empty() ? "unnamed" : p.name, p.rows.size(), p.gpu, p.cache, p.engine);
    fmt::format_to(out, "kernels     {:.1f} us, 80 % between {:.1f} and {:.1f} us\n", p.kernel_us, p.low_us,
                   p.high_us);
    fmt::format_to(out, "span        {:.1f} us from the first start to the last end\n", p.span_us);
    fmt::format_to(
        out, "wall        {:.1f} us with the host, launched {}; the host takes {:.1f} us{}\n", p.wall_us,
        p.launching == Launching::eager ? "one by one" : "as a graph", p.host_us,
        p.launch_bound() ? fmt::format(", and work waits for it {:.1f} us: launch-bound", p.waiting_us) : "");
    if (p.power) {
        fmt::format_to(out,
                       "power       {:.0f} W on average, at {:.1f} % of the clocks without a power limit\n",
                       p.power->average_w, percent * p.power->clock_share);
    }
    if (p.unknown_us > 0.0) {
        fmt::format_to(out, "unknown     {:.1f} % of the kernels' time rests on a prior\n",
                       percent * share(p.unknown_us, p.kernel_us));
    }
    if (p.memory_bytes > 0) {
        fmt::format_to(out, "memory      {:.2f} GiB at most\n",
                       static_cast<double>(p.memory_bytes) / (1U << 30U));
    }
    append_sums(text, "operators", sums_by(file, p, [](const FileRow& row) { return row.op; }), p.kernel_us);
    append_sums(text, "modules", sums_by(file, p, top_of), p.kernel_us);
    append_sums(text, "phases",
                sums_by(file, p, [](const FileRow& row) { return row.phase.empty() ? "-" : row.phase; }),
                p.kernel_us);
    std::vector<std::size_t> order(p.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p.rows[a].time_us > p.rows[b].time_us; });
    const std::size_t shown = most == 0 ? order.size() : std::min(most, order.size());
    constexpr std::size_t module_width = 36, op_width = 20;
    fmt::format_to(out, "\n{:>12} {:>7}  {:<{}} {:<{}} {:<16} {}\n", "time us", "share", "module",
                   module_width, "operator", op_width, "limiter", "shape");
    for (std::size_t k = 0; k < shown; ++k) {
        const FileRow& row = file.rows[order[k]];
        const PredictedRow& found = p.rows[order[k]];
        fmt::format_to(out, "{:>12.1f} {:>6.1f}%  {:<{}} {:<{}} {:<16} {}{}\n", found.time_us,
                       percent * share(found.time_us, p.kernel_us),
                       cut(row.module.empty() ? row.id : row.module, module_width), module_width, row.op,
                       op_width, found.limiter, found.shape,
                       row.repeat > 1 ? fmt::format(" x {}", row.repeat) : "");
    }
    if (shown < order.size()) fmt::format_to(out, "{} more rows\n", order.size() - shown);
    return text;
}

std::string step_json(const StepFile& file, const StepPrediction& p) {
    Json rows = Json::array(), critical = Json::array();
    for (std::size_t i = 0; i < p.rows.size(); ++i) {
        const FileRow& given = file.rows[i];
        const PredictedRow& row = p.rows[i];
        rows.push_back({{"id", given.id},
                        {"module", given.module},
                        {"phase", given.phase},
                        {"stream", given.stream},
                        {"op", given.op},
                        {"shape", row.shape},
                        {"repeat", given.repeat},
                        {"kernels", row.kernels},
                        {"time_us", row.time_us},
                        {"low_us", row.low_us},
                        {"high_us", row.high_us},
                        {"limiter", row.limiter},
                        {"status", row.status},
                        {"share", share(row.time_us, p.kernel_us)},
                        {"start_us", row.start_us},
                        {"end_us", row.end_us}});
        if (p.power) {
            rows.back()["energy_mj"] = row.energy_mj;
            rows.back()["clock_mhz"] = row.clock_mhz;
        }
    }
    Json power;
    if (p.power) power = {{"average_w", p.power->average_w}, {"clock_share", p.power->clock_share}};
    for (const std::size_t i : p.critical) critical.push_back(file.rows[i].id);
    return Json{{"schema", "warptime.step/1"},
                {"version", std::string(reports::program_version())},
                {"name", p.name},
                {"gpu", p.gpu},
                {"engine", p.engine},
                {"cache", p.cache},
                {"launch", text_of(p.launching)},
                {"kernel_us", p.kernel_us},
                {"low_us", p.low_us},
                {"high_us", p.high_us},
                {"span_us", p.span_us},
                {"wall_us", p.wall_us},
                {"host_us", p.host_us},
                {"waiting_us", p.waiting_us},
                {"launch_bound", p.launch_bound()},
                {"unknown_share", share(p.unknown_us, p.kernel_us)},
                {"memory_bytes", p.memory_bytes},
                {"power", power},
                {"critical_path", critical},
                {"rows", rows}}
               .dump(2) +
           "\n";
}

std::string step_csv(const StepFile& file, const StepPrediction& p) {
    std::string text;
    const auto line = [&text](const std::vector<std::string>& fields) {
        workloads::append_csv_record(text, fields);
    };
    line({"id", "module", "phase", "stream", "op", "shape", "repeat", "kernels", "time_us", "low_us",
          "high_us", "limiter", "status", "share", "start_us", "end_us", "energy_mj", "clock_mhz"});
    for (std::size_t i = 0; i < p.rows.size(); ++i) {
        const FileRow& given = file.rows[i];
        const PredictedRow& row = p.rows[i];
        line({given.id, given.module, given.phase, given.stream, given.op, row.shape,
              fmt::format("{}", given.repeat), fmt::format("{}", row.kernels),
              fmt::format("{:.6g}", row.time_us), fmt::format("{:.6g}", row.low_us),
              fmt::format("{:.6g}", row.high_us), row.limiter, row.status,
              fmt::format("{:.6g}", share(row.time_us, p.kernel_us)), fmt::format("{:.6g}", row.start_us),
              fmt::format("{:.6g}", row.end_us), p.power ? fmt::format("{:.6g}", row.energy_mj) : "",
              p.power ? fmt::format("{:.6g}", row.clock_mhz) : ""});
    }
    return text;
}

std::string step_timeline(const StepFile& file, const StepPrediction& p) {
    Json events = Json::array();
    std::map<std::string, int> streams;
    for (std::size_t i = 0; i < p.rows.size(); ++i) {
        const FileRow& given = file.rows[i];
        const PredictedRow& row = p.rows[i];
        const int stream = streams.try_emplace(given.stream, static_cast<int>(streams.size())).first->second;
        events.push_back({{"ph", "X"},
                          {"cat", "kernel"},
                          {"name", given.op},
                          {"pid", 0},
                          {"tid", stream},
                          {"ts", row.start_us},
                          {"dur", row.end_us - row.start_us},
                          {"args",
                           {{"stream", given.stream},
                            {"module", given.module},
                            {"phase", given.phase},
                            {"shape", row.shape},
                            {"repeat", given.repeat},
                            {"kernels", row.kernels},
                            {"limiter", row.limiter},
                            {"status", row.status},
                            {"time_us", row.time_us}}}});
    }
    for (const auto& [name, number] : streams) {
        events.push_back({{"ph", "M"},
                          {"name", "thread_name"},
                          {"pid", 0},
                          {"tid", number},
                          {"args", {{"name", "stream " + (name.empty() ? "0" : name)}}}});
    }
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", 0},
                      {"args", {{"name", fmt::format("{} (predicted)", p.gpu)}}}});
    return Json{{"schemaVersion", 1}, {"displayTimeUnit", "ns"}, {"traceEvents", events}}.dump() + "\n";
}

}  // namespace warptime::steps
