// Prints a prediction in lines of at most about 100 characters, with units that read well.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/prediction_text.hpp"

#include "bindings/reports/quantity_text.hpp"
#include "bindings/reports/share_meaning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace warptime::reports {

namespace {

using namespace model::prediction;
using Lines = std::back_insert_iterator<std::string>;
using Entries = std::vector<std::pair<std::string, double>>;

Entries largest_first(Entries entries) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return entries;
}

std::string conditions_text(const Conditions& c) {
    std::string text =
        fmt::format("cache {}, duty {}, data {}", to_string(c.cache), to_string(c.duty), to_string(c.data));
    if (c.available_sms > 0) {
        text += fmt::format(", {} SMs available", c.available_sms);
    }
    if (c.clock_hz > 0.0) {
        text += fmt::format(", SM clock {}", quantity_text(c.clock_hz, "Hz"));
    }
    if (c.between > 0.0) {
        const std::string in_turn = in_turn_text(c);
        text += fmt::format(", {} touched between two runs{}", quantity_text(c.between, "B"),
                            in_turn.empty() ? "" : fmt::format(" ({} in turn)", in_turn));
    }
    if (c.ecc != Ecc::as_shipped) {
        text += fmt::format(", ECC {}", to_string(c.ecc));
    }
    return text;
}

void write_operation(Lines out, const ReportContext& context) {
    fmt::format_to(out, "{:<12}{}", "operation", context.op);
    for (const ReportParameter& parameter : context.parameters) {
        if (!parameter.is_default) {
            fmt::format_to(out, " {}={}", parameter.name, parameter.text);
        }
    }
    fmt::format_to(out, "\n{:<12}{}, {}, engine {}\n", "gpu", context.gpu,
                   conditions_text(context.conditions), context.engine);
    for (std::size_t i = 0; i < context.settings.size(); ++i) {
        fmt::format_to(out, "{:<12}{}={}\n", i == 0 ? "settings" : "", context.settings[i].first,
                       context.settings[i].second);
    }
}

/// Whether any kernel runs, because memory sets and copies have no CTAs.
bool has_ctas(const Prediction& p) {
    return p.occupancy.ctas_per_sm > 0;
}

/// Rates of those units that the operation uses.
std::string achieved_text(const Prediction& p) {
    std::string text;
    const auto add = [&text](const char* name, double rate, const char* unit) {
        if (rate > 0.0) {
            text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name, quantity_text(rate, unit));
        }
    };
    add("", p.flops_per_s, "FLOP/s");
    add("DRAM ", p.dram_bytes_per_s, "B/s");
    add("L2 ", p.l2_bytes_per_s, "B/s");
    return text;
}

std::string constants_text(const hw::ConstantCounts& constants) {
    return constants.inherited == 0
               ? fmt::format("{} fitted constants", constants.own)
               : fmt::format("{} fitted constants, {} of this GPU and {} inherited",
                             constants.own + constants.inherited, constants.own, constants.inherited);
}

void write_time(Lines out, const Prediction& p) {
    fmt::format_to(out, "{:<12}{}, 80 % between {} and {}\n", "time", time_text(p.time), time_text(p.low),
                   time_text(p.high));
    fmt::format_to(out, "{:<12}{} (band from: {}; {})\n", "status", to_string(p.status), p.band_source,
                   constants_text(p.constants));
    for (const std::string& warning : p.warnings) {
        fmt::format_to(out, "{:<12}{}\n", "warning", warning);
    }
    fmt::format_to(out, "{:<12}{}, class {}\n", "limiter", to_string(p.limiter), to_string(p.kernel_class));
    if (const std::string achieved = achieved_text(p); !achieved.empty()) {
        fmt::format_to(out, "{:<12}{}\n", "achieved", achieved);
    }
    if (has_ctas(p)) {
        fmt::format_to(out, "{:<12}{} CTAs and {} warps per SM (limit {}, next {}), {:.2f} waves\n",
                       "occupancy", p.occupancy.ctas_per_sm, p.occupancy.warps_per_sm, p.occupancy.limit,
                       p.occupancy.next_limit, p.waves);
    }
    fmt::format_to(out, "{:<12}{}", "clock", quantity_text(p.clock_hz, "Hz"));
    if (p.power_w > 0) {
        fmt::format_to(out, ", {}", quantity_text(p.power_w, "W"));
    }
    *out++ = '\n';
}

void write_largest_shares(Lines out, const Prediction& p) {
    constexpr std::size_t shown = 4;
    const Entries shares = largest_first(p.shares);
    fmt::format_to(out, "{:<12}", "shares");
    for (std::size_t i = 0; i < std::min(shown, shares.size()); ++i) {
        fmt::format_to(out, "{}{} {}", i > 0 ? ", " : "", shares[i].first, percent_text(shares[i].second));
    }
    *out++ = '\n';
}

void write_share_bars(Lines out, const Prediction& p) {
    constexpr double width = 40.0;
    fmt::format_to(out, "\nshares of the time, which add up to 100 %\n");
    for (const auto& [name, share] : largest_first(p.shares)) {
        const auto length = static_cast<std::size_t>(std::lround(width * std::clamp(share, 0.0, 1.0)));
        fmt::format_to(out, "  {:<18}{:>8}  {:>10}{}{}\n", name, percent_text(share),
                       time_text(share * p.time), length > 0 ? "  " : "", std::string(length, '#'));
    }
    fmt::format_to(out, "where\n");
    for (const auto& [name, share] : largest_first(p.shares)) {
        const std::string_view kind = std::string_view(name).substr(0, name.find(':'));
        fmt::format_to(out, "  {:<18}{}\n", kind, share_meaning(name));
    }
}

void write_bounds(Lines out, const Prediction& p) {
    std::vector<const Bound*> bounds;
    for (const Bound& bound : p.bounds) {
        bounds.push_back(&bound);
    }
    std::stable_sort(bounds.begin(), bounds.end(),
                     [](const Bound* a, const Bound* b) { return a->time > b->time; });
    fmt::format_to(out, "\nbounds: the time if this alone held the kernel back\n");
    for (const Bound* bound : bounds) {
        fmt::format_to(out, "  {:<18}{:>10}  ", to_string(bound->limiter), time_text(bound->time));
        for (std::size_t i = 0; i < bound->inputs.size(); ++i) {
            fmt::format_to(out, "{}{} {}", i > 0 ? ", " : "", bound->inputs[i].first,
                           number_text(bound->inputs[i].second));
        }
        *out++ = '\n';
    }
}

void write_utilization(Lines out, const Prediction& p) {
    const Utilization& u = p.utilization;
    const std::array<std::pair<std::string_view, double>, 7> units{{{"tensor", u.tensor},
                                                                    {"fp32", u.fp32},
                                                                    {"issue", u.issue},
                                                                    {"shared", u.shared},
                                                                    {"l1", u.l1},
                                                                    {"l2", u.l2},
                                                                    {"dram", u.dram}}};
    fmt::format_to(out, "\nutilization: busy time of a unit over the kernel's time, all SMs together\n");
    for (const auto& [name, fraction] : units) {
        // A step without CTAs only keeps the memory busy.
        if (has_ctas(p) || fraction > 0.0) {
            fmt::format_to(out, "  {} {}", name, percent_text(fraction));
        }
    }
    *out++ = '\n';
}

void write_counters(Lines out, const Prediction& p) {
    fmt::format_to(out, "\ncounters, as Nsight Compute names them\n");
    for (const auto& [name, value] : p.counters) {
        fmt::format_to(out, "  {:<56}{:>20}\n", name, number_text(value));
    }
}

void write_steps(Lines out, const Prediction& p) {
    fmt::format_to(out, "\nsteps (first start to last end {})\n", time_text(p.span));
    for (const StepReport& step : p.steps) {
        fmt::format_to(out, "  {:<8}{:>10}  {}\n", step.kind, time_text(step.time), step.name);
    }
}

}  // namespace

std::string short_text(const Prediction& prediction, const ReportContext& context) {
    std::string text;
    const Lines out(text);
    write_operation(out, context);
    write_time(out, prediction);
    write_largest_shares(out, prediction);
    return text;
}

std::string explain_text(const Prediction& prediction, const ReportContext& context) {
    std::string text;
    const Lines out(text);
    write_operation(out, context);
    write_time(out, prediction);
    write_share_bars(out, prediction);
    write_bounds(out, prediction);
    write_utilization(out, prediction);
    write_counters(out, prediction);
    write_steps(out, prediction);
    return text;
}

}  // namespace warptime::reports
