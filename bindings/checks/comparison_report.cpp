// SPDX-License-Identifier: Apache-2.0
#include "bindings/checks/comparison_report.hpp"

#include "bindings/checks/difference_noise.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace warptime::checks {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<Verdict, 8> verdicts{Verdict::regressed, Verdict::failed, Verdict::refused,
                                          Verdict::slower,    Verdict::faster, Verdict::same,
                                          Verdict::added,     Verdict::missing};

bool has_times(const CaseComparison& one) {
    return one.before.time_us > 0.0 && one.after.time_us > 0.0;
}

std::string percent(double ratio) {
    return fmt::format("{:+.1f} %", 100.0 * (ratio - 1.0));
}

std::string time_text(const Case& one) {
    return one.time_us > 0.0 ? fmt::format("{:.2f} us", one.total_us()) : "-";
}

/// What a line says of a case behind its times.
std::string remark_of(const CaseComparison& one) {
    switch (one.verdict) {
        case Verdict::failed:
        case Verdict::refused:
            return one.after.error;
        case Verdict::added:
            return one.before.error.empty() ? "not in the baseline" : "had no time: " + one.before.error;
        case Verdict::missing:
            return "in the baseline only";
        default:
            break;
    }
    std::string text = changes_text(one);
    if (!one.same_input && !text.empty()) text += "; its input changed";
    return text;
}

std::string summary_of(const Comparison& comparison) {
    std::vector<std::string> parts;
    for (const Verdict verdict : verdicts) {
        if (const std::size_t count = comparison.count(verdict)) {
            parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
        }
    }
    return parts.empty() ? "no cases" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string limits_of(const Comparison& comparison) {
    return fmt::format(
        "regressed: slower by more than {:.3g} % and by more than {:.3g} %, the model's noise for the "
        "difference of two similar kernels",
        100.0 * comparison.limits.threshold, 100.0 * std::expm1(comparison.limits.noise));
}

std::string xml(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                // XML has no form for other control characters.
                escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
        }
    }
    return escaped;
}

/// A cell of a table: bars and line breaks would end it.
std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != std::string::npos; at += 2) {
        text.replace(at, 1, text[at] == '|' ? "\\|" : "; ");
    }
    return text;
}

Json side_json(const Case& one) {
    if (one.name.empty()) return nullptr;
    if (!one.error.empty()) return {{"error", one.error}};
    Json numbers = Json::object();
    for (const auto& [name, value] : one.numbers) numbers[name] = value;
    return {{"time_us", one.time_us},   {"low_us", one.low_us},   {"high_us", one.high_us},
            {"launches", one.launches}, {"limiter", one.limiter}, {"numbers", std::move(numbers)}};
}

}  // namespace

std::string text_report(const Comparison& comparison) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const CaseComparison& one : comparison.cases) {
        if (one.verdict == Verdict::same) continue;
        fmt::format_to(out, "{:<9} {}\n", to_string(one.verdict), one.name);
        if (has_times(one)) {
            fmt::format_to(out, "          {} -> {}, {}\n", time_text(one.before), time_text(one.after),
                           percent(one.ratio));
        }
        if (const std::string remark = remark_of(one); !remark.empty()) {
            fmt::format_to(out, "          {}\n", remark);
        }
    }
    fmt::format_to(out, "{}{}: {}\n{}\n", text.empty() ? "" : "\n",
                   fmt::format("{} cases", comparison.cases.size()), summary_of(comparison),
                   limits_of(comparison));
    return text;
}

std::string json_report(const Comparison& comparison, const Baseline& now) {
    const DifferenceNoise& noise = difference_noise();
    Json cases = Json::array();
    for (const CaseComparison& one : comparison.cases) {
        Json changes = Json::array();
        for (const Change& change : one.changes) {
            changes.push_back({{"what", change.what}, {"before", change.before}, {"after", change.after}});
        }
        cases.push_back({{"case", one.name},
                         {"verdict", to_string(one.verdict)},
                         {"ratio", has_times(one) ? Json(one.ratio) : Json()},
                         {"same_input", one.same_input},
                         {"changes", std::move(changes)},
                         {"before", side_json(one.before)},
                         {"after", side_json(one.after)}});
    }
    Json counts = Json::object();
    for (const Verdict verdict : verdicts)
        counts[std::string(to_string(verdict))] = comparison.count(verdict);
    Json gpus = Json::array();
    for (const BaselineGpu& gpu : now.gpus) gpus.push_back(gpu.id);
    const Json object{{"schema", "warptime.check/1"},
                      {"version", now.version},
                      {"gpus", std::move(gpus)},
                      {"threshold", comparison.limits.threshold},
                      {"noise", std::expm1(comparison.limits.noise)},
                      {"noise_source", noise.source},
                      {"counts", std::move(counts)},
                      {"cases", std::move(cases)}};
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string markdown_report(const Comparison& comparison) {
    std::string text = fmt::format("### Predicted times: {}\n", summary_of(comparison));
    const auto out = std::back_inserter(text);
    bool headed = false;
    for (const CaseComparison& one : comparison.cases) {
        if (one.verdict == Verdict::same) continue;
        if (!headed)
            text += "\n| | kernel | before | now | change | what changed |\n|---|---|---|---|---|---|\n";
        headed = true;
        const bool bad = one.verdict == Verdict::regressed || one.verdict == Verdict::failed;
        fmt::format_to(out, "| {0}{1}{0} | `{2}` | {3} | {4} | {5} | {6} |\n", bad ? "**" : "",
                       to_string(one.verdict), cell(one.name), time_text(one.before), time_text(one.after),
                       has_times(one) ? percent(one.ratio) : "", cell(remark_of(one)));
    }
    return text + "\n" + limits_of(comparison) + "\n";
}

std::string junit_report(const Comparison& comparison) {
    std::size_t tests = 0;
    std::string body;
    const auto out = std::back_inserter(body);
    for (const CaseComparison& one : comparison.cases) {
        if (one.verdict == Verdict::missing) continue;
        ++tests;
        fmt::format_to(out, "  <testcase classname=\"warptime\" name=\"{}\" time=\"{:.9f}\"", xml(one.name),
                       one.after.total_us() * 1e-6);
        const std::string what = has_times(one) ? fmt::format("{} -> {}, {}", time_text(one.before),
                                                              time_text(one.after), percent(one.ratio))
                                                : "";
        switch (one.verdict) {
            case Verdict::regressed:
                fmt::format_to(out, ">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n", xml(what),
                               xml(remark_of(one)));
                break;
            case Verdict::failed:
            case Verdict::refused:
                fmt::format_to(out, ">\n    <error message=\"no time\">{}</error>\n  </testcase>\n",
                               xml(remark_of(one)));
                break;
            default:
                if (one.verdict == Verdict::same) {
                    body += "/>\n";
                } else {
                    fmt::format_to(out, ">\n    <system-out>{}: {} {}</system-out>\n  </testcase>\n",
                                   to_string(one.verdict), xml(what), xml(remark_of(one)));
                }
        }
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"warptime check\" tests=\"{}\" "
        "failures=\"{}\" errors=\"{}\">\n{}</testsuite>\n",
        tests, comparison.count(Verdict::regressed),
        comparison.count(Verdict::failed) + comparison.count(Verdict::refused), body);
}

}  // namespace warptime::checks
