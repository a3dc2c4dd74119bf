// SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard_rows.hpp"

#include "workloads/csv.hpp"

#include <fmt/format.h>

namespace warptime::validate {
namespace {

void append(std::string& out, const std::string& engine, const ScoredRow& scored) {
    const RecordedRow& row = *scored.row;
    const RowPrediction& prediction = scored.prediction;
    const bool refused = !prediction.error.empty();
    const auto number = [refused](double value) {
        return refused ? std::string() : fmt::format("{:.6g}", value);
    };
    workloads::append_csv_record(
        out,
        {row.gpu, row.suite, std::string(to_string(scored.split)), row.op, row.implementation, row.params,
         row.cache, row.duty, row.data, row.quantity, row.unit, engine, fmt::format("{}", row.value),
         number(prediction.time_us), number(prediction.low_us), number(prediction.high_us),
         number(prediction.time_us / row.value - 1.0), refused ? "" : prediction.limiter, prediction.error});
}

}  // namespace

std::string rows_csv(const Scoreboard& board, bool held_out) {
    std::string out;
    workloads::append_csv_record(
        out, {"gpu", "suite", "split", "op", "implementation", "params", "cache", "duty", "data", "quantity",
              "unit", "engine", "measured", "predicted", "low", "high", "error", "limiter", "refusal"});
    for (const SuiteReport& suite : board.suites) {
        for (const EngineScore& engine : suite.engines) {
            for (const ScoredRow& scored : engine.rows) {
                if (held_out || scored.split != Split::held_out) append(out, engine.engine, scored);
            }
        }
    }
    return out;
}

}  // namespace warptime::validate
