// Parts the rows by GPU and suite and scores each part.
// SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "validate/recorded_case.hpp"
#include "validate/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace warptime::validate {
namespace {

using RowRefs = std::vector<const RecordedRow*>;
using SuiteId = std::pair<std::string, std::string>;  // gpu, suite

bool selected(const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void check_recorded(const char* option, const std::vector<std::string>& names, const RecordedRows& rows,
                    std::string RecordedRow::*field) {
    if (names.empty()) return;
    std::set<std::string_view> recorded;
    for (const RecordedRow& row : rows.rows) recorded.insert(row.*field);
    const std::vector<std::string_view> known(recorded.begin(), recorded.end());
    for (const std::string& name : names) {
        if (!recorded.contains(name)) throw Error(option, name, hw::expected_names(name, known));
    }
}

/// The measured case of a row, whatever its quantity.
std::string case_name(const RecordedRow& row) {
    RecordedRow without = row;
    without.quantity.clear();
    return identity_of(without);
}

std::set<std::string> timed_cases(const RecordedRows& rows) {
    std::set<std::string> timed;
    for (const RecordedRow& row : rows.rows) {
        if (is_microbenchmark(row) && row.quantity == "kernel_us") timed.insert(case_name(row));
    }
    return timed;
}

/// Work for the baseline, and the case's split. A case that the registry refuses has no work.
struct CaseFacts {
    CaseKey key;
    Split split = Split::fit;
    std::optional<workloads::UsefulWork> work;
};

CaseFacts facts_of(const RecordedRow& row) {
    CaseFacts facts;
    try {
        facts.key = case_key(row.op, row.params);
        const workloads::Operation operation = operation_of(row);
        facts.work = workloads::find_operator(operation.op).work(operation);
    } catch (const Error&) {
        if (facts.key.shape.empty()) facts.key.shape = row.op + " " + row.params;
    }
    facts.split = split_of(facts.key);
    return facts;
}

std::optional<Baseline> baseline_of(const RowRefs& rows) {
    std::vector<BaselineRow> fit_rows;
    for (const RecordedRow* row : rows) {
        const CaseFacts facts = facts_of(*row);
        if (facts.split == Split::fit && facts.work) fit_rows.push_back({*facts.work, row->value});
    }
    return fit_baseline(fit_rows);
}

/// A choice is made only among rows of one library and of the same conditions. So neither is part of the
/// configuration.
std::string choice_name(const RecordedRow& row, const CaseKey& key) {
    return fmt::format("{}{}{}{}{}", key.shape, row.implementation.empty() ? "" : " by " + row.implementation,
                       row.cache.empty() ? "" : " " + row.cache, row.duty.empty() ? "" : " " + row.duty,
                       row.data.empty() ? "" : " " + row.data);
}

EngineScore score_engine(const RowRefs& rows, const SuiteReport& report, RowPredictor& predictor,
                         const ScoreOptions& options) {
    EngineScore score;
    score.engine = predictor.name();
    score.constants = predictor.constants(report.gpu, rows);
    std::vector<ScoredCase> cases;
    std::vector<Candidate> candidates;
    for (const RecordedRow* row : rows) {
        const CaseFacts facts = facts_of(*row);
        const RowPrediction prediction = predictor.predict(*row);
        cases.push_back({row->op + " " + row->params, facts.split, row->value, prediction.time_us,
                         prediction.low_us, prediction.high_us, prediction.limiter, prediction.error,
                         std::nullopt, !is_timed(row->quantity), row->unit});
        if (options.keep_rows) score.rows.push_back({row, facts.split, prediction});
        if (report.baseline && facts.work) cases.back().baseline_us = report.baseline->time_us(*facts.work);
        if (!facts.key.configuration.empty()) {
            candidates.push_back({choice_name(*row, facts.key), split_of(facts.key.shape), row->value,
                                  prediction.time_us, !prediction.error.empty()});
        }
    }
    const std::vector<ShapeChoice> choices = choices_of(candidates);
    for (const Split split : all_splits) {
        score.splits.push_back(score_split(cases, split, options.worst));
        if (!choices.empty()) score.choices.push_back(summarize_choices(choices, split));
    }
    return score;
}

SuiteReport score_suite(const SuiteId& id, const RowRefs& rows, std::span<RowPredictor* const> predictors,
                        const ScoreOptions& options) {
    SuiteReport report;
    report.gpu = id.first;
    report.suite = id.second;
    const Recordings recordings = part_recordings(rows);
    report.noise = recordings.noise;
    report.repeated = recordings.repeated;
    report.baseline = baseline_of(recordings.first);
    const RowRefs scored = sample_rows(recordings.first, options.sample);
    for (const RecordedRow* row : recordings.first) report.recorded.add(*row);
    report.scored = scored.size();
    for (RowPredictor* predictor : predictors) {
        report.engines.push_back(score_engine(scored, report, *predictor, options));
    }
    return report;
}

/// Counter rows of a sample of the cases, each with all of its metrics.
RowRefs sample_counters(const RowRefs& rows, std::size_t count) {
    std::map<SuiteId, RowRefs> cases;
    std::set<std::string> seen;
    for (const RecordedRow* row : rows) {
        if (seen.insert(case_name(*row)).second) cases[{row->gpu, row->suite}].push_back(row);
    }
    std::set<std::string> drawn;
    for (const auto& [id, members] : cases) {
        for (const RecordedRow* row : sample_rows(members, count)) drawn.insert(case_name(*row));
    }
    RowRefs sample;
    for (const RecordedRow* row : rows) {
        if (drawn.contains(case_name(*row))) sample.push_back(row);
    }
    return sample;
}

std::vector<GpuBands> gpu_bands(const std::vector<SuiteReport>& suites) {
    std::vector<GpuBands> result;
    for (const SuiteReport& suite : suites) {
        // The bands of a step follow from those of its operators.
        if (suite.suite.rfind(microbenchmark_prefix, 0) == 0 || suite.suite.rfind(step_suites, 0) == 0)
            continue;
        for (const EngineScore& engine : suite.engines) {
            for (const SplitScore& split : engine.splits) {
                auto found = std::find_if(result.begin(), result.end(), [&](const GpuBands& known) {
                    return known.gpu == suite.gpu && known.engine == engine.engine &&
                           known.split == split.split;
                });
                if (found == result.end()) {
                    result.push_back({suite.gpu, engine.engine, split.split, suite.recorded, split.bands});
                    continue;
                }
                found->recorded.add(suite.recorded);
                for (std::size_t c = 0; c < size_class_count; ++c) {
                    found->bands[c] = joined(found->bands[c], split.bands[c]);
                }
            }
        }
    }
    return result;
}

}  // namespace

Scoreboard score(const RecordedRows& rows, std::span<RowPredictor* const> predictors,
                 const ScoreOptions& options) {
    check_recorded("--suite", options.suites, rows, &RecordedRow::suite);
    check_recorded("--gpu", options.gpus, rows, &RecordedRow::gpu);
    Scoreboard board;
    for (const RowPredictor* predictor : predictors) board.engines.push_back(predictor->name());
    board.sample = options.sample;
    board.files = rows.files.size();
    std::map<SuiteId, RowRefs> suites;
    std::map<SuiteId, std::size_t> counted;
    RowRefs counters;
    const std::set<std::string> timed = timed_cases(rows);
    for (const RecordedRow& row : rows.rows) {
        if (!selected(options.suites, row.suite) || !selected(options.gpus, row.gpu)) continue;
        ++board.rows;
        // A rate beside the duration that the rate was worked out from says the same thing twice.
        if (row.quantity == "bytes_per_s" && timed.contains(case_name(row))) continue;
        if (is_predictable(row)) {
            suites[{row.gpu, row.suite}].push_back(&row);
        } else if (is_counter_row(row)) {
            counters.push_back(&row);
        } else {
            ++counted[{row.gpu, row.suite}];
        }
    }
    for (const auto& [id, members] : suites) {
        board.suites.push_back(score_suite(id, members, predictors, options));
    }
    if (options.suites.empty()) board.bands = gpu_bands(board.suites);
    const RowRefs sampled = sample_counters(counters, options.sample);
    for (RowPredictor* predictor : predictors) {
        board.counters.push_back({predictor->name(), score_counters(sampled, *predictor)});
    }
    for (const auto& [id, count] : counted) board.counted.push_back({id.first, id.second, count});
    return board;
}

Scoreboard score(const RecordedRows& rows, RowPredictor& predictor, const ScoreOptions& options) {
    RowPredictor* const only[] = {&predictor};
    return score(rows, only, options);
}

}  // namespace warptime::validate
