// The scoreboard as tables for a terminal; "-" is a figure without rows. SPDX-License-Identifier: Apache-2.0
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

std::string band_text(const SplitScore& split) {
    std::string text;
    for (std::size_t c = 0; c < size_class_count; ++c) {
        const BandFigures& band = split.bands[c];
        if (band.rows == 0) continue;
        text +=
            fmt::format("{}{}: {:.0f} % of {}, ln-width {} ({} x error)", text.empty() ? "" : "; ",
                        size_class_names[c], 100.0 * band.coverage, band.rows, plain(band.mean_log_width, 3),
                        plain(band.mean_log_width / band.mean_log_error, 1));
    }
    return text.empty() ? "-" : text;
}

void append_suite(std::string& out, const SuiteReport& report) {
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "\n{} {}: {} fitted constants", report.score.gpu, report.score.suite,
                   report.constants.fitted);
    if (report.constants.inherited > 0) fmt::format_to(to, " + {} inherited", report.constants.inherited);
    if (report.noise) {
        fmt::format_to(to, ", noise floor {} ({} pairs)\n", percent(report.noise->median_difference),
                       report.noise->pairs);
    } else {
        out += ", noise floor not recorded\n";
    }
    out += header();
    for (const SplitScore& split : report.score.splits) {
        const std::string name(to_string(split.split));
        out += line(name, split.model);
        if (split.baseline) out += line("  trivial baseline", *split.baseline);
    }
    for (const SplitScore& split : report.score.splits) {
        fmt::format_to(to, "    80 % band, {}: {}\n", to_string(split.split), band_text(split));
    }
    for (const SplitScore& split : report.score.splits) {
        for (const WorstCase& worst : split.worst) {
            const std::string said = worst.refusal.empty() ? fmt::format("predicted {:.2f} us, {}",
                                                                         worst.predicted_us, worst.limiter)
                                                           : "refused: " + worst.refusal;
            fmt::format_to(to, "    worst, {}: {} {} (measured {:.2f} us, {})\n", to_string(split.split),
                           percent(worst.error), worst.name, worst.measured_us, said);
        }
    }
}

void append_counters(std::string& out, const std::vector<CounterScore>& scores) {
    const auto to = std::back_inserter(out);
    std::string last;
    for (const CounterScore& score : scores) {
        const std::string owner = score.gpu + " " + score.suite;
        if (owner != last) {
            fmt::format_to(to, "\n{}: error of counters, median and p90\n    {:<52}{:>24}{:>26}{:>26}\n",
                           owner, "", "fit", "development", "held-out");
        }
        last = owner;
        fmt::format_to(to, "    {:<52}", score.metric);
        std::size_t compared = 0;
        for (const CounterFigures& figures : score.splits) compared += figures.rows;
        if (compared == 0) {
            fmt::format_to(to, "  not predicted ({} rows)\n", score.not_predicted);
            continue;
        }
        for (const CounterFigures& figures : score.splits) {
            fmt::format_to(to, "{:>12}{:>12}", percent(figures.median), percent(figures.p90));
            if (&figures != &score.splits.back()) out += "  ";
        }
        out += '\n';
    }
}

}  // namespace

std::string to_text(const Scoreboard& board) {
    std::string out =
        fmt::format("engine {}: {} recorded rows of {} files\n", board.engine, board.rows, board.files);
    for (const SuiteReport& report : board.suites) append_suite(out, report);
    append_counters(out, board.counters);
    if (!board.counted.empty()) out += "\nrecorded, not compared with a prediction:\n";
    for (const CountedSuite& suite : board.counted) {
        out += fmt::format("    {} {}: {} rows\n", suite.gpu, suite.suite, suite.rows);
    }
    if (board.suites.empty() && board.counters.empty())
        out += "no recorded row can be compared with a prediction\n";
    return out;
}

}  // namespace warptime::validate
