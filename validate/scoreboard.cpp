// Parts the rows by GPU and suite and scores each part. SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "validate/engine_predictor.hpp"
#include "validate/recorded_case.hpp"

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

void check_selection(const RecordedRows& rows, const ScoreOptions& options) {
    for (const std::string& suite : options.suites) {
        std::vector<std::string_view> known;
        for (const RecordedRow& row : rows.rows) {
            if (std::find(known.begin(), known.end(), row.suite) == known.end()) known.push_back(row.suite);
        }
        if (std::find(known.begin(), known.end(), suite) == known.end()) {
            throw Error("--suite", suite, hw::expected_names(suite, known));
        }
    }
}

/// What a row measures, whatever its quantity.
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

/// Work for the baseline, and the case's split; a case that the registry refuses has no work.
struct CaseFacts {
    Split split = Split::fit;
    std::optional<MinimalWork> work;
};

CaseFacts facts_of(const RecordedRow& row) {
    CaseFacts facts;
    try {
        facts.split = split_of(case_key(row.op, row.params));
        facts.work = minimal_work(operation_of(row));
    } catch (const Error&) {
        facts.split = split_of(row.op + " " + row.params);
    }
    return facts;
}

SuiteReport score_suite(const SuiteId& id, const RowRefs& rows, RowPredictor& predictor, std::size_t worst) {
    SuiteReport report;
    report.score.gpu = id.first;
    report.score.suite = id.second;
    report.constants = predictor.constants(id.first);
    const Recordings recordings = part_recordings(rows);
    report.noise = recordings.noise;
    report.repeated = recordings.repeated;

    std::vector<ScoredCase> cases;
    std::vector<CaseFacts> facts;
    std::vector<BaselineRow> fit_rows;
    for (const RecordedRow* row : recordings.first) {
        facts.push_back(facts_of(*row));
        const RowPrediction prediction = predictor.predict(*row);
        cases.push_back({row->op + " " + row->params, facts.back().split, row->value, prediction.time_us,
                         prediction.low_us, prediction.high_us, prediction.limiter, prediction.error,
                         std::nullopt, row->quantity != "kernel_us"});
        if (facts.back().split == Split::fit && facts.back().work) {
            fit_rows.push_back({*facts.back().work, row->value});
        }
    }
    report.baseline = fit_baseline(fit_rows);
    for (std::size_t i = 0; i < cases.size() && report.baseline; ++i) {
        if (facts[i].work) cases[i].baseline_us = report.baseline->time_us(*facts[i].work);
    }
    for (const Split split : all_splits) {
        report.score.splits.push_back(score_split(cases, split, worst));
    }
    return report;
}

}  // namespace

Scoreboard score(const RecordedRows& rows, RowPredictor& predictor, const ScoreOptions& options) {
    check_selection(rows, options);
    Scoreboard board;
    board.engine = predictor.name();
    board.files = rows.files.size();
    std::map<SuiteId, RowRefs> suites;
    std::map<SuiteId, std::size_t> counted;
    RowRefs counters;
    const std::set<std::string> timed = timed_cases(rows);
    for (const RecordedRow& row : rows.rows) {
        if (!selected(options.suites, row.suite) || !selected(options.gpus, row.gpu)) continue;
        ++board.rows;
        // A rate beside the duration that it was worked out from says the same thing twice.
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
        board.suites.push_back(score_suite(id, members, predictor, options.worst));
    }
    board.counters = score_counters(counters, predictor);
    for (const auto& [id, count] : counted) board.counted.push_back({id.first, id.second, count});
    return board;
}

Scoreboard score(const RecordedRows& rows, const model::prediction::Engine& engine,
                 const ScoreOptions& options) {
    EngineRowPredictor predictor(engine, options.settings);
    return score(rows, predictor, options);
}

}  // namespace warptime::validate
