// The scoreboard as tables for a terminal; "-" is a figure without rows.
// SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace warptime::validate {
namespace {

std::string percent(double fraction) {
    if (!std::isfinite(fraction)) return "-";
    return fmt::format("{:.2f} %", 100.0 * fraction);
}

std::string signed_percent(double fraction) {
    if (!std::isfinite(fraction)) return "-";
    return fmt::format("{:+.2f} %", 100.0 * fraction);
}

std::string plain(double value, int digits) {
    if (!std::isfinite(value)) return "-";
    return fmt::format("{:.{}f}", value, digits);
}

std::string line(std::string_view name, const ErrorFigures& e) {
    return fmt::format("    {:<22}{:>6}{:>9}{:>10}{:>10}{:>10}{:>10}{:>11}{:>10}{:>8}{:>9}{:>11}\n", name,
                       e.rows, e.refused, percent(e.mape), percent(e.median), percent(e.p90), percent(e.p95),
                       percent(e.worst), signed_percent(e.bias), plain(e.rank_correlation, 3), e.short_rows,
                       plain(e.short_mean_us, 3));
}

std::string header() {
    return fmt::format("    {:<22}{:>6}{:>9}{:>10}{:>10}{:>10}{:>10}{:>11}{:>10}{:>8}{:>9}{:>11}\n", "",
                       "rows", "refused", "MAPE", "median", "p90", "p95", "worst", "bias", "rank", "< 10 us",
                       "|p-t| us");
}

std::string band_text(const std::array<BandFigures, size_class_count>& bands) {
    std::string text;
    for (std::size_t c = 0; c < size_class_count; ++c) {
        const BandFigures& band = bands[c];
        if (band.rows == 0) continue;
        text +=
            fmt::format("{}{}: {:.0f} % of {}, ln-width {} ({} x error)", text.empty() ? "" : "; ",
                        size_class_names[c], 100.0 * band.coverage, band.rows, plain(band.mean_log_width, 3),
                        plain(band.mean_log_width / band.mean_log_error, 1));
    }
    return text.empty() ? "-" : text;
}

/// With several engines, a line needs the engine's name.
std::string prefix(const EngineScore& engine, bool side_by_side) {
    return side_by_side ? engine.engine + ", " : "";
}

void append_errors(std::string& out, const SuiteReport& report, bool side_by_side) {
    out += header();
    for (std::size_t s = 0; s < std::size(all_splits); ++s) {
        const std::string name(to_string(all_splits[s]));
        if (side_by_side) out += fmt::format("    {}\n", name);
        for (const EngineScore& engine : report.engines) {
            out += line(side_by_side ? "  " + engine.engine : name, engine.splits[s].model);
        }
        const auto& baseline = report.engines.front().splits[s].baseline;
        if (baseline) out += line("  trivial baseline", *baseline);
    }
}

void append_bands(std::string& out, const EngineScore& engine, bool side_by_side) {
    for (const SplitScore& split : engine.splits) {
        out += fmt::format("    80 % band, {}{}: {}\n", prefix(engine, side_by_side), to_string(split.split),
                           band_text(split.bands));
    }
}

std::string top_text(const TopFigures& top) {
    return fmt::format("mean {}, p5 {}, worst {}", percent(top.mean), percent(top.p5), percent(top.worst));
}

void append_choices(std::string& out, const EngineScore& engine, bool side_by_side) {
    for (const ChoiceFigures& choice : engine.choices) {
        if (choice.shapes == 0) continue;
        out += fmt::format("    choice, {}{}: {} shapes of {} rows; top-1 {}; top-5 {}; gap {}\n",
                           prefix(engine, side_by_side), to_string(choice.split), choice.shapes,
                           choice.configurations, top_text(choice.top1), top_text(choice.top5),
                           percent(choice.gap));
    }
}

void append_worst(std::string& out, const EngineScore& engine, bool side_by_side) {
    const auto to = std::back_inserter(out);
    for (const SplitScore& split : engine.splits) {
        // Readers of the text go on working on the model. So the text does not name held-out cases.
        if (split.split == Split::held_out) continue;
        for (const WorstCase& worst : split.worst) {
            const std::string said =
                worst.refusal.empty()
                    ? fmt::format("predicted {:.4g} {}, {}", worst.predicted_us, worst.unit, worst.limiter)
                    : "refused: " + worst.refusal;
            fmt::format_to(to, "    worst, {}{}: {} {} (measured {:.4g} {}, {})\n",
                           prefix(engine, side_by_side), to_string(split.split), percent(worst.error),
                           worst.name, worst.measured_us, worst.unit, said);
        }
    }
}

void append_suite(std::string& out, const SuiteReport& report) {
    const bool side_by_side = report.engines.size() > 1;
    const auto to = std::back_inserter(out);
    // All engines read the same sheet, so the constants of one engine are those of all.
    const ConstantCount& constants = report.engines.front().constants;
    fmt::format_to(to, "\n{} {}: {} fitted constants", report.gpu, report.suite, constants.fitted);
    if (constants.inherited > 0) fmt::format_to(to, " + {} inherited", constants.inherited);
    if (constants.compiler > 0) fmt::format_to(to, ", {} of a compiler", constants.compiler);
    if (constants.library > 0) fmt::format_to(to, ", {} of a library", constants.library);
    if (constants.learned > 0) fmt::format_to(to, " + {} learned from its launches", constants.learned);
    if (report.noise) {
        fmt::format_to(to, ", noise floor {} ({} pairs)", percent(report.noise->median_difference),
                       report.noise->pairs);
    } else {
        out += ", noise floor not recorded";
    }
    if (report.scored < report.recorded.rows) {
        fmt::format_to(to, ", a sample of {} of {} rows", report.scored, report.recorded.rows);
    }
    out += '\n';
    append_errors(out, report, side_by_side);
    for (const EngineScore& engine : report.engines) append_bands(out, engine, side_by_side);
    for (const EngineScore& engine : report.engines) append_choices(out, engine, side_by_side);
    for (const EngineScore& engine : report.engines) append_worst(out, engine, side_by_side);
}

void append_gpu_bands(std::string& out, const Scoreboard& board) {
    std::string_view last;
    for (const GpuBands& bands : board.bands) {
        if (bands.gpu != last) out += fmt::format("\n{}, all operators\n", bands.gpu);
        last = bands.gpu;
        out += fmt::format("    80 % band, {}{}: {}\n", board.engines.size() > 1 ? bands.engine + ", " : "",
                           to_string(bands.split), band_text(bands.bands));
    }
}

void append_counters(std::string& out, const EngineCounters& counters, bool side_by_side) {
    const auto to = std::back_inserter(out);
    std::string last;
    for (const CounterScore& score : counters.scores) {
        const std::string owner =
            score.gpu + " " + score.suite + (side_by_side ? ", " + counters.engine : "");
        if (owner != last) {
            fmt::format_to(to, "\n{}: error of counters, median and p90\n    {:<52}{:>24}{:>26}{:>26}\n",
                           owner, "", "fit", "development", "held-out");
        }
        last = owner;
        fmt::format_to(to, "    {:<52}", score.metric);
        std::size_t compared = 0;
        std::size_t small = 0;
        for (const CounterFigures& figures : score.splits) {
            compared += figures.rows;
            small += figures.small_rows;
        }
        if (compared == 0 && small == 0) {
            fmt::format_to(to, "  not predicted ({} rows)\n", score.not_predicted);
            continue;
        }
        for (const CounterFigures& figures : score.splits) {
            fmt::format_to(to, "{:>12}{:>12}", percent(figures.median), percent(figures.p90));
            if (&figures != &score.splits.back()) out += "  ";
        }
        out += '\n';
        if (small == 0) continue;
        fmt::format_to(to, "    {:<52}", "  counts below 1 MB, and the mean |p-c|");
        for (const CounterFigures& figures : score.splits) {
            fmt::format_to(to, "{:>12}{:>12}", figures.small_rows,
                           fmt::format("{:.3f} MB", figures.small_mean_bytes / smallest_relative_bytes));
            if (&figures != &score.splits.back()) out += "  ";
        }
        out += '\n';
    }
}

}  // namespace

std::string to_text(const Scoreboard& board) {
    const bool side_by_side = board.engines.size() > 1;
    std::string out = fmt::format("engine {}: {} recorded rows of {} files\n", fmt::join(board.engines, ", "),
                                  board.rows, board.files);
    if (board.sample > 0) {
        out +=
            fmt::format("a sample: at most {} rows a suite, lowest hash of the case first\n", board.sample);
    }
    for (const SuiteReport& report : board.suites) append_suite(out, report);
    append_gpu_bands(out, board);
    bool any = !board.suites.empty();
    for (const EngineCounters& counters : board.counters) {
        append_counters(out, counters, side_by_side);
        any = any || !counters.scores.empty();
    }
    if (!board.counted.empty()) out += "\nrecorded, not compared with a prediction:\n";
    for (const CountedSuite& suite : board.counted) {
        out += fmt::format("    {} {}: {} rows\n", suite.gpu, suite.suite, suite.rows);
    }
    if (!any) out += "no recorded row can be compared with a prediction\n";
    return out;
}

}  // namespace warptime::validate
