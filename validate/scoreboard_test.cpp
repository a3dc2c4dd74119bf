// The scoreboard of a tiny data set whose figures can be worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard.hpp"

#include "hw/error.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;
using validate::Split;

namespace {

validate::ScoredCase scored(const char* name, double measured, double predicted, Split split = Split::fit) {
    return {name, split, measured, predicted, predicted * 0.9, predicted * 1.1, "dram", "", std::nullopt};
}

}  // namespace

TEST_CASE("errors of a split, a refusal counting as 100 %") {
    std::vector<validate::ScoredCase> cases{scored("a", 10, 11),
                                            scored("b", 20, 16),
                                            scored("c", 200, 200),
                                            scored("d", 40, 0),
                                            scored("e", 4, 4.5),
                                            scored("f", 2, 0),
                                            scored("x", 10, 90, Split::held_out)};
    cases[3].error = cases[5].error = "does not fit";
    const auto score = validate::score_split(cases, Split::fit, 2);
    CHECK(score.model.rows == 4);
    CHECK(score.model.refused == 2);
    CHECK(score.model.mape == doctest::Approx((0.1 + 0.2 + 0.0 + 1.0) / 4));
    CHECK(score.model.median == doctest::Approx(0.15));
    CHECK(score.model.worst == 1.0);
    CHECK(score.model.bias == doctest::Approx((std::log(1.1) + std::log(0.8)) / 3));
    CHECK(score.model.rank_correlation == doctest::Approx(1.0));
    CHECK(score.model.short_rows == 2);
    CHECK(score.model.short_mean_us == doctest::Approx((0.5 + 2.0) / 2));
    REQUIRE(score.worst.size() == 2);
    CHECK(score.worst[0].name == "d");
    CHECK(score.worst[0].refusal == "does not fit");
    CHECK(score.worst[1].name == "b");
    CHECK_FALSE(score.baseline);
}

TEST_CASE("bands: coverage by size class, refusals uncovered, width as a logarithm") {
    std::vector<validate::ScoredCase> cases{scored("a", 10, 11), scored("b", 20, 16), scored("c", 100, 100),
                                            scored("d", 101, 101)};
    cases.push_back(scored("e", 50, 0));
    cases.back().error = "refused";
    const auto score = validate::score_split(cases, Split::fit, 0);
    CHECK(score.bands[0].rows == 0);
    CHECK(std::isnan(score.bands[0].coverage));
    CHECK(score.bands[1].rows == 4);  // 10 us and 100 us both belong to the middle
    CHECK(score.bands[1].coverage == doctest::Approx(2.0 / 4));
    CHECK(score.bands[1].mean_log_width == doctest::Approx(std::log(1.1 / 0.9)));
    CHECK(score.bands[1].mean_log_error == doctest::Approx((std::log(1.1) - std::log(0.8)) / 3));
    CHECK(score.bands[2].rows == 1);
    CHECK(score.bands[2].coverage == 1.0);
    // b, predicted 16 with an upper end of 17.6, is missed by ln(20 / 17.6), which counts ten times. a and c
    // lie inside.
    CHECK(score.bands[1].predicted == 3);
    CHECK(score.bands[1].mean_interval_score ==
          doctest::Approx(std::log(1.1 / 0.9) + 10.0 * std::log(20.0 / 17.6) / 3));

    const auto all = validate::joined(score.bands[1], score.bands[2]);
    CHECK(all.rows == 5);
    CHECK(all.coverage == doctest::Approx(3.0 / 5));
    CHECK(all.mean_log_error == doctest::Approx((std::log(1.1) - std::log(0.8)) / 4));
    CHECK(validate::joined(score.bands[0], score.bands[2]).coverage == 1.0);
}

TEST_CASE("rows recorded again tell the noise and are scored once") {
    const std::vector<validate::RecordedRow> rows{fixture::row("s", "copy", "n=1", 102, "2026-01-09"),
                                                  fixture::row("s", "copy", "n=1", 100, "2026-01-02"),
                                                  fixture::row("s", "copy", "n=2", 50),
                                                  fixture::row("s", "copy", "n=2", 51, "2026-01-02", "b.csv"),
                                                  fixture::row("s", "copy", "n=3", 5),
                                                  fixture::row("s", "copy", "n=3", 50, "2026-01-03"),
                                                  fixture::row("s", "copy", "n=4", 70),
                                                  fixture::row("s", "copy", "n=4", 170)};
    std::vector<const validate::RecordedRow*> refs;
    for (const auto& row : rows) refs.push_back(&row);
    const auto parted = validate::part_recordings(refs);
    CHECK(parted.first.size() == 4);
    CHECK(parted.repeated == 4);
    CHECK(parted.first[0]->value == 100);  // the earlier date
    REQUIRE(parted.noise);
    // n=3 is short, and n=4 is from the same day in the same file. Neither row counts.
    CHECK(parted.noise->pairs == 2);
    CHECK(parted.noise->median_difference == doctest::Approx((2.0 / 101 + 1.0 / 50.5) / 2));
    CHECK_FALSE(validate::part_recordings(std::vector<const validate::RecordedRow*>{refs[0]}).noise);
}

TEST_CASE("the baseline finds the constants of a smooth roofline") {
    const validate::Baseline truth{600e6, 4e6, 2.5, 0};
    std::vector<validate::BaselineRow> rows;
    for (int i = 0; i < 40; ++i) {
        const warptime::workloads::UsefulWork work{std::pow(10.0, 8 + 0.1 * i),
                                                   std::pow(10.0, 6 + 0.06 * ((i * 17) % 40))};
        rows.push_back({work, truth.time_us(work)});
    }
    const auto found = validate::fit_baseline(rows);
    REQUIRE(found);
    CHECK(found->operations_per_us == doctest::Approx(600e6).epsilon(1e-4));
    CHECK(found->bytes_per_us == doctest::Approx(4e6).epsilon(1e-4));
    CHECK(found->floor_us == doctest::Approx(2.5).epsilon(1e-3));
    CHECK(truth.time_us({3 * 600e6, 4 * 4e6}) == doctest::Approx(5 + 2.5));
    rows.resize(3);
    CHECK_FALSE(validate::fit_baseline(rows));
    // The two branches of the residual meet at 10 us.
    CHECK(validate::fit_residual(10.1, 10.0) ==
          doctest::Approx(validate::fit_residual(10.1, 9.9999999)).epsilon(0.01));
    CHECK(validate::fit_residual(2.3, 2.0) == doctest::Approx(0.03));
}

TEST_CASE("a scoreboard groups by GPU and suite, compares counters and counts the rest") {
    std::string text = fixture::header;
    for (int i = 1; i <= 200; ++i) {
        text += fixture::line("copy_add", "copy", fmt::format("dtype=bf16 n={}", i * 1000000), 10.0 * i);
    }
    text += fixture::line("other", "unknown_op", "n=3", 10);
    text += fixture::line("microbench_dram", "copy", "n=3", 10);
    for (int i = 1; i <= 40; ++i) {
        const std::string params = fmt::format("dtype=bf16 n={}", i);
        text += fixture::counter_line(params, "dram__bytes_read.sum", 1e9);
        text += fixture::counter_line(params, "lts__t_sectors.sum", 1e7);
    }
    const auto rows = fixture::read(text);
    fixture::FakePredictor predictor([](const validate::RecordedRow& row) { return row.value * 1.05; });
    const auto board = validate::score(rows, predictor);
    CHECK(board.engines == std::vector<std::string>{"fake"});
    CHECK(board.rows == 282);
    REQUIRE(board.suites.size() == 1);
    std::size_t all = 0;
    for (const auto& split : board.suites[0].engines.at(0).splits) {
        all += split.model.rows;
        CHECK(split.model.mape == doctest::Approx(0.05));
        CHECK(split.model.rank_correlation == doctest::Approx(1.0));
        REQUIRE(split.baseline);
        CHECK(split.baseline->mape < 0.01);  // the times are exactly proportional to the bytes
        CHECK(split.bands[2].coverage == 1.0);
    }
    CHECK(all == 200);
    REQUIRE(board.bands.size() == 3);
    CHECK(board.bands[0].gpu == "h200-sxm");
    CHECK(board.bands[0].bands[2].rows == board.suites[0].engines[0].splits[0].bands[2].rows);
    CHECK(board.suites[0].engines[0].constants.fitted == 12);
    CHECK(board.suites[0].engines[0].constants.compiler == 4);
    CHECK_FALSE(board.suites[0].noise);
    const auto& counters = board.counters.at(0).scores;
    REQUIRE(counters.size() == 2);
    CHECK(counters[0].metric == "dram__bytes_read.sum");
    CHECK(counters[0].splits[0].median == doctest::Approx(0.1));
    CHECK(counters[1].not_predicted == 40);
    CHECK(board.counted.size() == 2);

    const std::string shown = validate::to_text(board);
    CHECK(shown.find("held-out") != std::string::npos);
    CHECK(shown.find("5.00 %") != std::string::npos);
    CHECK(shown.find("noise floor not recorded") != std::string::npos);
    const auto json = nlohmann::json::parse(validate::to_json(board));
    CHECK(json["schema"] == "warptime.scoreboard/2");
    CHECK(json["suites"][0]["engines"][0]["splits"][0]["model"]["mape"].get<double>() ==
          doctest::Approx(0.05));
    CHECK(json["suites"][0]["noise_floor"].is_null());
    CHECK(json["counters"][1]["splits"][0]["median"].is_null());

    validate::ScoreOptions options;
    options.suites = {"copy_ad"};
    CHECK_THROWS_AS(static_cast<void>(validate::score(rows, predictor, options)), warptime::Error);
    options.suites = {"other"};
    CHECK(validate::score(rows, predictor, options).suites.empty());
}

TEST_CASE("engines stand side by side on the same sample, their choices too") {
    std::string text = fixture::header;
    for (int i = 1; i <= 30; ++i) {
        const auto params = fmt::format("cta_tile=64x64x32 dtype=bf16 group_m={} k=512 m=512 n=512", i);
        text += fixture::line("sweep", "gemm", params, 100.0 + i);
        text += fixture::counter_line(fmt::format("dtype=bf16 n={}", i), "dram__bytes_read.sum", 1e9);
    }
    const auto rows = fixture::read(text);
    fixture::FakePredictor right([](const validate::RecordedRow& row) { return row.value; });
    fixture::FakePredictor backwards([](const validate::RecordedRow& row) { return 1e4 / row.value; });
    validate::RowPredictor* const both[] = {&right, &backwards};
    validate::ScoreOptions options;
    options.sample = 12;
    const auto board = validate::score(rows, both, options);
    REQUIRE(board.suites.size() == 1);
    const auto& suite = board.suites[0];
    CHECK(suite.recorded.rows == 30);
    CHECK(suite.scored == 12);
    REQUIRE(suite.engines.size() == 2);
    const auto split = static_cast<std::size_t>(
        validate::split_of(validate::case_key("gemm", "dtype=bf16 k=512 m=512 n=512")));
    const auto& first = suite.engines[0].choices.at(split);
    const auto& second = suite.engines[1].choices.at(split);
    CHECK(first.shapes == 1);
    CHECK(first.configurations == 12);
    CHECK(first.top1.mean == 1.0);
    CHECK(second.top1.mean < 1.0);
    CHECK(second.top1.worst_shape.find("m=512") != std::string::npos);
    for (const auto& engine : suite.engines) {
        std::size_t scored = 0;
        for (const auto& one : engine.splits) scored += one.model.rows;
        CHECK(scored == 12);
    }
    REQUIRE(board.counters.size() == 2);
    std::size_t counted = 0;
    for (const auto& figures : board.counters[1].scores.at(0).splits) counted += figures.rows;
    CHECK(counted == 12);

    const std::string shown = validate::to_text(board);
    CHECK(shown.find("a sample of 12 of 30 rows") != std::string::npos);
    CHECK(shown.find("1 shapes of 12 rows; top-1 mean 100.00 %") != std::string::npos);
    const auto json = nlohmann::json::parse(validate::to_json(board));
    CHECK(json["sample"] == 12);
    CHECK(json["suites"][0]["scored"] == 12);
    CHECK(json["suites"][0]["engines"][1]["choices"][split]["top1"]["mean"].get<double>() ==
          doctest::Approx(second.top1.mean));
}

TEST_CASE("small counts are judged by their difference, and a refused case has none") {
    const auto rows =
        fixture::read(fixture::header + fixture::counter_line("dtype=bf16 n=1", "dram__bytes_read.sum", 0) +
                      fixture::counter_line("dtype=bf16 n=1", "lts__t_sectors.sum", 31249));
    std::vector<const validate::RecordedRow*> refs{&rows.rows[0], &rows.rows[1]};
    fixture::FakePredictor answering([](const validate::RecordedRow&) { return 1.0; });
    fixture::FakePredictor refusing([](const validate::RecordedRow&) { return -1.0; });
    const auto answered = validate::score_counters(refs, answering);
    const auto refused = validate::score_counters(refs, refusing);
    const auto split =
        static_cast<std::size_t>(validate::split_of(validate::case_key("copy", "dtype=bf16 n=1")));
    CHECK(answered.at(0).splits[split].rows == 0);
    CHECK(answered.at(0).splits[split].small_rows == 1);
    CHECK(answered.at(0).splits[split].small_mean_bytes == doctest::Approx(1.1e9));
    CHECK(refused.at(0).splits[split].small_rows == 1);
    CHECK(std::isnan(refused.at(0).splits[split].small_mean_bytes));
    CHECK(refused.at(1).splits[split].small_rows == 1);  // 31249 sectors hold less than 1 MB
}

TEST_CASE("a refused case counts as wholly wrong") {
    const auto rows = fixture::read(fixture::header +
                                    fixture::counter_line("dtype=bf16 n=1", "smsp__inst_executed.sum", 10) +
                                    fixture::counter_line("dtype=bf16 n=1", "dram__bytes_read.sum", 1e9));
    std::vector<const validate::RecordedRow*> refs{&rows.rows[0], &rows.rows[1]};
    fixture::FakePredictor refusing([](const validate::RecordedRow&) { return -1.0; });
    const auto split =
        static_cast<std::size_t>(validate::split_of(validate::case_key("copy", "dtype=bf16 n=1")));
    for (const auto& score : validate::score_counters(refs, refusing)) {
        CHECK(score.splits[split].rows == 1);
        CHECK(score.splits[split].median == 1.0);
    }
}
