// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/scoreboard_page.hpp"

#include "bindings/reports/html.hpp"
#include "bindings/reports/version.hpp"
#include "hw/error.hpp"
#include "hw/quantity.hpp"
#include "hw/sheet.hpp"
#include "validate/recorded_case.hpp"
#include "workloads/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace warptime::reports {

namespace {

using html::escaped;
using hw::us_per_s;
using validate::ScoredRow;
using validate::Split;

constexpr double short_us = 10.0;  ///< shorter rows count by their distance, as on the scoreboard
constexpr std::size_t most_shares = 4;

double log_error(const ScoredRow& scored) {
    return std::log(scored.prediction.time_us / scored.row->value);
}

/// Whether a row has a place in the plots: a predicted time of an operator that is not held out.
bool is_shown(const ScoredRow& scored) {
    return scored.split != Split::held_out && scored.prediction.error.empty() &&
           (scored.row->quantity == "kernel_us" || scored.row->quantity == "interval_us") &&
           !validate::is_microbenchmark(*scored.row) && scored.row->value > 0.0 &&
           scored.prediction.time_us > 0.0;
}

std::string percent(double share) {
    return std::isfinite(share) ? fmt::format("{:.1f} %", 100.0 * share) : "-";
}

std::string figures_part(const validate::Scoreboard& board) {
    std::vector<html::Cells> rows;
    for (const validate::SuiteReport& suite : board.suites) {
        for (const validate::SplitScore& split : suite.engines.front().splits) {
            const validate::ErrorFigures& e = split.model;
            if (e.rows + e.short_rows == 0) continue;
            rows.push_back({escaped(suite.gpu), escaped(suite.suite), std::string(to_string(split.split)),
                            fmt::format("{}", e.rows), percent(e.mape), percent(e.median), percent(e.p90),
                            percent(e.bias), fmt::format("{}", e.short_rows),
                            std::isfinite(e.short_mean_us) ? fmt::format("{:.2f} us", e.short_mean_us) : "-",
                            split.baseline ? percent(split.baseline->mape) : "-",
                            suite.noise ? percent(suite.noise->median_difference) : "-"});
        }
    }
    return "<h2>Figures</h2>\n" +
           html::details(
               fmt::format("{} suites, by split", board.suites.size()),
               html::table({"GPU", "suite", "split", "rows from 10 us", "mean error", "median", "p90", "bias",
                            "shorter rows", "off by", "smooth roofline", "noise floor"},
                           rows, 3));
}

/// The suites of one kind, such as all products on a GPU, have one colour.
std::string family_of(const validate::SuiteReport& suite) {
    return suite.gpu + " " + suite.suite.substr(0, suite.suite.find('_'));
}

struct Plotted {
    std::vector<html::Series> absolute, relative;
    double least = 1e30, most = 0.0;
};

Plotted plotted(const validate::Scoreboard& board) {
    Plotted all;
    for (const validate::SuiteReport& suite : board.suites) {
        const std::string family = family_of(suite);
        for (const ScoredRow& scored : suite.engines.front().rows) {
            if (!is_shown(scored)) continue;
            // Suites are in order of GPU and name, so that a family's suites follow one another.
            if (all.absolute.empty() || all.absolute.back().name != family) {
                all.absolute.push_back({family, {}, {}});
                all.relative.push_back({family, {}, {}});
            }
            all.least = std::min({all.least, scored.row->value, scored.prediction.time_us});
            all.most = std::max({all.most, scored.row->value, scored.prediction.time_us});
            all.absolute.back().x.push_back(scored.row->value);
            all.absolute.back().y.push_back(scored.prediction.time_us);
            all.relative.back().x.push_back(scored.row->value);
            all.relative.back().y.push_back(100.0 * (scored.prediction.time_us / scored.row->value - 1.0));
        }
    }
    return all;
}

std::string plots_part(const validate::Scoreboard& board) {
    const Plotted all = plotted(board);
    if (all.absolute.empty()) return "<p>No operator's row is among the suites, so there are no plots.</p>";
    const double low = 0.8 * all.least, high = 1.25 * all.most;
    const std::vector<html::Line> around = {{low, low, high, high, false},
                                            {low, 1.25 * low, high / 1.25, high, true},
                                            {1.25 * low, low, high, high / 1.25, true}};
    const std::vector<html::Line> level = {
        {low, 0.0, high, 0.0, false}, {low, 25.0, high, 25.0, true}, {low, -20.0, high, -20.0, true}};
    return "<h2>Predicted over measured</h2>\n" +
           html::scatter(all.absolute, {"measured, us", low, high}, {"predicted, us", low, high}, around) +
           "<h2>Error against size</h2>\n" +
           html::scatter(all.relative, {"measured, us", low, high},
                         {"error, % (cut at 100)", -100.0, 100.0, false}, level) +
           "<p class='quiet'>Fit and development rows of operators; dashed: a factor of 1.25 either way.</p>";
}

std::vector<const ScoredRow*> worst_rows(const validate::Scoreboard& board, std::size_t count) {
    std::vector<const ScoredRow*> rows;
    for (const validate::SuiteReport& suite : board.suites) {
        for (const ScoredRow& scored : suite.engines.front().rows) {
            if (is_shown(scored) && scored.row->value >= short_us) rows.push_back(&scored);
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const ScoredRow* a, const ScoredRow* b) {
        return std::abs(log_error(*a)) > std::abs(log_error(*b));
    });
    rows.resize(std::min(rows.size(), count));
    return rows;
}

/// What the model says of one case, and which of its bounds comes nearest to the measured time.
std::string explained(const ScoredRow& scored, const model::prediction::Engine& engine, const hw::Gpu& gpu) {
    workloads::Predictor predictor(engine, gpu);
    const model::prediction::Prediction answer =
        predictor.explain(validate::operation_of(*scored.row), validate::conditions_of(*scored.row));
    std::vector<std::pair<std::string, double>> shares = answer.shares;
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    shares.resize(std::min(shares.size(), most_shares));
    std::string text = "The model's time is ";
    for (std::size_t i = 0; i < shares.size(); ++i) {
        text += fmt::format("{}{:.0f} % {}", i == 0 ? "" : ", ", 100.0 * shares[i].second, shares[i].first);
    }
    const model::prediction::Bound* nearest = nullptr;
    const double measured = scored.row->value;
    for (const model::prediction::Bound& bound : answer.bounds) {
        const auto distance = [measured](const model::prediction::Bound& b) {
            return std::abs(std::log(std::max(b.time * us_per_s, 1e-6) / measured));
        };
        if (nearest == nullptr || distance(bound) < distance(*nearest)) nearest = &bound;
    }
    if (nearest != nullptr) {
        text += fmt::format("; of its bounds, {} with {:.4g} us comes nearest to what was measured",
                            to_string(nearest->limiter), nearest->time * us_per_s);
    }
    return text + fmt::format(". It counts on {} CTAs per SM and {:.3g} waves.", answer.occupancy.ctas_per_sm,
                              answer.waves);
}

std::string worst_part(const validate::Scoreboard& board, const model::prediction::Engine& engine,
                       std::size_t count) {
    std::map<std::string, hw::Gpu> chips;
    std::string html = fmt::format("<h2>The {} worst cases</h2>\n", count);
    for (const ScoredRow* scored : worst_rows(board, count)) {
        const validate::RecordedRow& row = *scored->row;
        const validate::RowPrediction& p = scored->prediction;
        const bool inside = row.value >= p.low_us && row.value <= p.high_us;
        html += fmt::format(
            "<h3>{} {}</h3><p>{}, suite {}, {}: measured {:.4g} us, predicted {:.4g} us ({:+.0f} %), {} the "
            "80 % band of {:.4g} to {:.4g} us. Limiter: {}.",
            escaped(row.op), escaped(row.params), escaped(row.gpu), escaped(row.suite),
            to_string(scored->split), row.value, p.time_us, 100.0 * (p.time_us / row.value - 1.0),
            inside ? "inside" : "outside", p.low_us, p.high_us, escaped(p.limiter));
        try {
            const auto [chip, is_new] = chips.try_emplace(row.gpu);
            if (is_new) chip->second = hw::load_gpu(row.gpu);
            html += " " + escaped(explained(*scored, engine, chip->second));
        } catch (const Error& error) {
            html += " No explanation: " + escaped(error.what());
        }
        if (!row.steps.empty()) html += " What ran: <code>" + escaped(row.steps) + "</code>.";
        html += "</p>\n";
    }
    return html;
}

}  // namespace

std::string scoreboard_page(const validate::Scoreboard& board, const model::prediction::Engine& engine,
                            std::size_t worst) {
    const std::string head = fmt::format(
        "<h1>How well predictions agree with measurements</h1><p>{} recorded rows in {} files{}; engine {}, "
        "warptime {}. Constants are fitted to fit rows, mechanisms chosen on development rows; of held-out "
        "rows only figures are shown.</p>",
        board.rows, board.files,
        board.sample > 0 ? fmt::format(", a sample of at most {} a suite", board.sample) : "",
        escaped(board.engines.empty() ? "" : board.engines.front()), program_version());
    return html::page("warptime: scoreboard",
                      head + plots_part(board) + worst_part(board, engine, worst) + figures_part(board));
}

}  // namespace warptime::reports
