// The scoreboard as JSON, keys in a fixed order; a figure without rows is null.
// SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace warptime::validate {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json errors_json(const ErrorFigures& e) {
    return {{"rows", e.rows},
            {"refused", e.refused},
            {"mape", number(e.mape)},
            {"median", number(e.median)},
            {"p90", number(e.p90)},
            {"p95", number(e.p95)},
            {"worst", number(e.worst)},
            {"bias", number(e.bias)},
            {"rank_correlation", number(e.rank_correlation)},
            {"short_rows", e.short_rows},
            {"short_mean_us", number(e.short_mean_us)}};
}

Json bands_json(const std::array<BandFigures, size_class_count>& bands) {
    Json json = Json::array();
    for (std::size_t c = 0; c < size_class_count; ++c) {
        const BandFigures& band = bands[c];
        json.push_back({{"class", size_class_names[c]},
                        {"rows", band.rows},
                        {"coverage", number(band.coverage)},
                        {"mean_log_width", number(band.mean_log_width)},
                        {"mean_log_error", number(band.mean_log_error)},
                        {"mean_interval_score", number(band.mean_interval_score)}});
    }
    return json;
}

Json split_json(const SplitScore& split) {
    Json json{{"split", to_string(split.split)},
              {"model", errors_json(split.model)},
              {"baseline", split.baseline ? errors_json(*split.baseline) : Json(nullptr)}};
    json["bands"] = bands_json(split.bands);
    json["worst"] = Json::array();
    for (const WorstCase& worst : split.worst) {
        json["worst"].push_back(
            {{"case", worst.name},
             {"unit", worst.unit},
             {"measured_us", worst.measured_us},
             {"predicted_us", worst.refusal.empty() ? Json(worst.predicted_us) : Json(nullptr)},
             {"error", worst.error},
             {"limiter", worst.limiter},
             {"refusal", worst.refusal}});
    }
    return json;
}

Json top_json(const TopFigures& top) {
    return {{"mean", number(top.mean)},
            {"p5", number(top.p5)},
            {"worst", number(top.worst)},
            {"worst_shape", top.worst_shape}};
}

Json engine_json(const EngineScore& engine) {
    Json json{{"engine", engine.engine},
              {"fitted_constants", engine.constants.fitted},
              {"inherited_constants", engine.constants.inherited},
              {"compiler_constants", engine.constants.compiler},
              {"library_constants", engine.constants.library},
              {"learned_constants", engine.constants.learned}};
    json["splits"] = Json::array();
    for (const SplitScore& split : engine.splits) json["splits"].push_back(split_json(split));
    json["choices"] = Json::array();
    for (const ChoiceFigures& choice : engine.choices) {
        json["choices"].push_back({{"split", to_string(choice.split)},
                                   {"shapes", choice.shapes},
                                   {"configurations", choice.configurations},
                                   {"top1", top_json(choice.top1)},
                                   {"top5", top_json(choice.top5)},
                                   {"gap", number(choice.gap)}});
    }
    return json;
}

Json suite_json(const SuiteReport& report) {
    Json json{{"gpu", report.gpu},
              {"suite", report.suite},
              {"recorded", report.recorded.rows},
              {"scored", report.scored}};
    json["noise_floor"] = report.noise ? Json{{"pairs", report.noise->pairs},
                                              {"median_difference", report.noise->median_difference}}
                                       : Json(nullptr);
    json["baseline"] = report.baseline ? Json{{"operations_per_s", report.baseline->operations_per_us * 1e6},
                                              {"bytes_per_s", report.baseline->bytes_per_us * 1e6},
                                              {"floor_us", report.baseline->floor_us},
                                              {"rows", report.baseline->rows}}
                                       : Json(nullptr);
    json["engines"] = Json::array();
    for (const EngineScore& engine : report.engines) json["engines"].push_back(engine_json(engine));
    return json;
}

Json counter_json(const CounterScore& score, const std::string& engine) {
    Json json{{"engine", engine},
              {"gpu", score.gpu},
              {"suite", score.suite},
              {"metric", score.metric},
              {"not_predicted", score.not_predicted}};
    json["splits"] = Json::array();
    for (const Split split : all_splits) {
        const CounterFigures& figures = score.splits[static_cast<std::size_t>(split)];
        json["splits"].push_back({{"split", to_string(split)},
                                  {"rows", figures.rows},
                                  {"median", number(figures.median)},
                                  {"p90", number(figures.p90)},
                                  {"small_rows", figures.small_rows},
                                  {"small_mean_bytes", number(figures.small_mean_bytes)}});
    }
    return json;
}

}  // namespace

std::string to_json(const Scoreboard& board) {
    Json json{{"schema", "warptime.scoreboard/2"},
              {"engines", board.engines},
              {"sample", board.sample > 0 ? Json(board.sample) : Json(nullptr)},
              {"files", board.files},
              {"rows", board.rows}};
    json["suites"] = Json::array();
    for (const SuiteReport& suite : board.suites) json["suites"].push_back(suite_json(suite));
    json["bands"] = Json::array();
    for (const GpuBands& bands : board.bands) {
        json["bands"].push_back({{"gpu", bands.gpu},
                                 {"engine", bands.engine},
                                 {"split", to_string(bands.split)},
                                 {"classes", bands_json(bands.bands)}});
    }
    json["counters"] = Json::array();
    for (const EngineCounters& counters : board.counters) {
        for (const CounterScore& score : counters.scores) {
            json["counters"].push_back(counter_json(score, counters.engine));
        }
    }
    json["counted"] = Json::array();
    for (const CountedSuite& suite : board.counted) {
        json["counted"].push_back({{"gpu", suite.gpu}, {"suite", suite.suite}, {"rows", suite.rows}});
    }
    return json.dump(2) + "\n";
}

}  // namespace warptime::validate
