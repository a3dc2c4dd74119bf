// Scores counters; each case is explained once for all its metrics.
// SPDX-License-Identifier: Apache-2.0
#include "validate/counter_score.hpp"

#include "hw/error.hpp"
#include "validate/recorded_case.hpp"
#include "validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace warptime::validate {
namespace {

using Counters = std::vector<std::pair<std::string, double>>;

struct Errors {
    std::array<std::vector<double>, 3> by_split;
    std::array<std::vector<double>, 3> small_bytes;  // |p - c| of small counts
    std::array<std::size_t, 3> small_rows{};
    std::size_t not_predicted = 0;
    RowSet recorded;
};

double counter_error(double predicted, double counted) {
    if (counted == 0.0) return predicted == 0.0 ? 0.0 : 1.0;
    return relative_error(predicted, counted);
}

/// Bytes that one count of a metric stands for; 0 for a metric that is no traffic.
double bytes_per_count(std::string_view metric) {
    constexpr double sector = 32.0;
    if (metric.find("bytes") != std::string_view::npos) return 1.0;
    return metric.find("sectors") != std::string_view::npos ? sector : 0.0;
}

/// Identity of the case, without the metric.
std::string case_of(const RecordedRow& row) {
    RecordedRow without = row;
    without.quantity.clear();
    return identity_of(without);
}

Split split_of_row(const RecordedRow& row) {
    try {
        return split_of(case_key(row.op, row.params));
    } catch (const Error&) {
        return split_of(row.op + " " + row.params);
    }
}

}  // namespace

bool is_counter_row(const RecordedRow& row) {
    return row.suite.rfind("counters_", 0) == 0 && (is_operator(row.op) || !profiled_probe(row).empty());
}

std::vector<CounterScore> score_counters(std::span<const RecordedRow* const> rows, RowPredictor& predictor) {
    std::map<std::string, Counters> predicted;
    std::map<std::tuple<std::string, std::string, std::string>, Errors> metrics;
    for (const RecordedRow* row : rows) {
        const auto [found, fresh] = predicted.try_emplace(case_of(*row));
        if (fresh) found->second = predictor.counters(*row);
        const Counters& counters = found->second;
        const auto metric = std::find_if(counters.begin(), counters.end(),
                                         [&](const auto& counter) { return counter.first == row->quantity; });
        Errors& errors = metrics[{row->gpu, row->suite, row->quantity}];
        errors.recorded.add(*row);
        if (metric == counters.end() && !counters.empty()) {
            ++errors.not_predicted;
            continue;
        }
        const auto split = static_cast<std::size_t>(split_of_row(*row));
        const double bytes = bytes_per_count(row->quantity);
        if (bytes > 0.0 && row->value * bytes < smallest_relative_bytes) {
            ++errors.small_rows[split];
            if (metric != counters.end()) {
                errors.small_bytes[split].push_back(std::fabs(metric->second - row->value) * bytes);
            }
            continue;
        }
        const double error = metric == counters.end() ? 1.0 : counter_error(metric->second, row->value);
        errors.by_split[split].push_back(error);
    }
    std::vector<CounterScore> scores;
    for (const auto& [name, errors] : metrics) {
        CounterScore score{std::get<0>(name),    std::get<1>(name), std::get<2>(name), {},
                           errors.not_predicted, errors.recorded};
        for (std::size_t s = 0; s < score.splits.size(); ++s) {
            const std::vector<double>& sample = errors.by_split[s];
            score.splits[s] = {sample.size(), median(sample), quantile(sample, 0.9), errors.small_rows[s],
                               mean(errors.small_bytes[s])};
        }
        scores.push_back(score);
    }
    return scores;
}

}  // namespace warptime::validate
