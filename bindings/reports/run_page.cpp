// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/run_page.hpp"

#include "bindings/reports/html.hpp"
#include "hw/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <vector>

namespace warptime::reports {

namespace {

using Json = nlohmann::ordered_json;
using html::escaped;

constexpr std::size_t most_lines = 12;      ///< lines of a launch that are shown
constexpr std::size_t most_kernels = 20;    ///< kernels with a bar of their own
constexpr std::size_t most_launches = 500;  ///< launches in the table

std::string time_text(const Json& launch, const char* name) {
    return launch.at(name).is_null() ? "-" : fmt::format("{:.2f}", launch.at(name).get<double>());
}

/// Lines of the files of source, each file read once.
class Sources {
  public:
    std::string line(const std::string& path, std::size_t number) {
        const auto [found, is_new] = files_.try_emplace(path);
        if (is_new) {
            std::ifstream file(path);
            for (std::string text; std::getline(file, text);) found->second.push_back(text);
        }
        return number >= 1 && number <= found->second.size() ? found->second[number - 1] : "";
    }

  private:
    std::map<std::string, std::vector<std::string>> files_;
};

struct Sum {
    double time = 0.0;
    std::size_t launches = 0;
    std::string limiter;
};

std::string by_kernel(const Json& launches, double total) {
    std::map<std::string, Sum> sums;
    for (const Json& launch : launches) {
        if (launch.at("time_us").is_null()) continue;
        Sum& sum = sums[launch.at("kernel").get<std::string>()];
        sum.time += launch.at("time_us").get<double>();
        sum.launches += 1;
        sum.limiter = launch.at("limiter").get<std::string>();
    }
    std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    std::vector<html::Cells> rows;
    for (const auto& [name, sum] : sorted) {
        if (rows.size() == most_kernels) break;
        rows.push_back(
            {escaped(name),
             fmt::format("<svg width='200' height='14'><rect width='{:.1f}' height='14' fill='{}'/></svg>",
                         200.0 * sum.time / total, html::cause_colour(sum.limiter)),
             escaped(sum.limiter), fmt::format("{}", sum.launches), fmt::format("{:.2f}", sum.time),
             fmt::format("{:.1f} %", 100.0 * sum.time / total)});
    }
    return "<h2>Time by kernel</h2>\n" +
           html::table({"kernel", "share", "limiter", "launches", "us", "of all"}, rows, 3);
}

std::string lines_of(const Json& launch, Sources& sources) {
    std::vector<const Json*> lines;
    for (const Json& line : launch.at("lines")) lines.push_back(&line);
    std::stable_sort(lines.begin(), lines.end(), [](const Json* a, const Json* b) {
        return a->at("time_share").get<double>() > b->at("time_share").get<double>();
    });
    std::vector<html::Cells> rows;
    for (const Json* line : lines) {
        if (rows.size() == most_lines) break;
        const std::string file = line->at("file");
        const auto number = line->at("line").get<std::size_t>();
        rows.push_back({fmt::format("{}:{}", escaped(file.substr(file.rfind('/') + 1)), number),
                        "<code>" + escaped(sources.line(file, number)) + "</code>",
                        fmt::format("{:.1f} %", 100.0 * line->at("time_share").get<double>()),
                        fmt::format("{:.0f}", line->at("instructions").get<double>()),
                        fmt::format("{:.0f}", line->at("sectors").get<double>()),
                        fmt::format("{:.0f}", line->at("passes").get<double>())});
    }
    return html::table({"line", "source", "time", "warp instructions", "sectors", "bank passes"}, rows, 2);
}

std::string line_part(const Json& launches) {
    Sources sources;
    std::string html;
    for (const Json& launch : launches) {
        if (!launch.contains("lines")) continue;
        html += html::details(
            fmt::format("launch {}, {}", launch.at("launch").dump(), launch.at("kernel").get<std::string>()),
            lines_of(launch, sources));
    }
    return html.empty() ? "" : "<h2>Line by line</h2>\n" + html;
}

}  // namespace

std::string run_page(const std::string& json) {
    try {
        const Json report = Json::parse(json);
        const Json& launches = report.at("launches");
        const std::string gpu = report.at("gpu");
        double total = 0.0;
        std::size_t without = 0;
        std::vector<html::Cells> rows;
        for (const Json& launch : launches) {
            if (launch.at("time_us").is_null()) {
                ++without;
            } else {
                total += launch.at("time_us").get<double>();
            }
            if (rows.size() == most_launches) continue;
            const std::string error = launch.at("error");
            rows.push_back(
                {launch.at("launch").dump(), escaped(launch.at("kernel").get<std::string>()),
                 escaped(launch.at("limiter").is_null() ? error : launch.at("limiter").get<std::string>()),
                 escaped(launch.at("grid").get<std::string>()),
                 escaped(launch.at("block").get<std::string>()), time_text(launch, "time_us"),
                 time_text(launch, "low_us"), time_text(launch, "high_us")});
        }
        std::string body = fmt::format(
            "<h1>A program on {}</h1><p><span class='big'>{:.1f} us</span> for {} launches, copies and "
            "memsets{}</p>",
            escaped(gpu), total, launches.size(),
            without == 0 ? "" : fmt::format("; <b>{} without a time</b>, which the table explains", without));
        body += by_kernel(launches, std::max(total, 1e-12)) + line_part(launches);
        body += "<h2>Launches</h2>\n" +
                html::table({"", "kernel", "limiter", "grid", "block", "us", "low", "high"}, rows, 3);
        if (launches.size() > most_launches) {
            body += fmt::format("<p>and {} more; <code>warptime run -o FILE</code> writes all</p>",
                                launches.size() - most_launches);
        }
        return html::page("warptime: a program on " + gpu, body);
    } catch (const Json::exception& error) {
        throw Error("report", error.what(), "the JSON of a run");
    }
}

}  // namespace warptime::reports
