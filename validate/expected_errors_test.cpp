// Ceilings are read strictly, fail above and when a figure is missing, and only tighten for the same rows.
// SPDX-License-Identifier: Apache-2.0
#include "validate/expected_errors.hpp"

#include "hw/error.hpp"
#include "validate/command.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;

namespace {

/// The end of a line of ceilings on a suite of rows_text().
std::string rows_of(const char* suite);

std::vector<validate::Ceiling> ceilings(const std::string& lines) {
    std::istringstream in("suite,data_set,split,metric,ceiling,rows\n" + lines);
    return validate::read_ceilings(in, "expected_error.csv");
}

std::string rows_text() {
    std::string text = fixture::header;
    for (int i = 1; i <= 60; ++i) {
        text += fixture::line("copy_add", "copy", fmt::format("dtype=bf16 n={}", i * 1000), 5.0 * i);
    }
    return text + fixture::counter_line("dtype=bf16 n=1", "dram__bytes_read.sum", 1e9);
}

std::string rows_of(const char* suite) {
    validate::RowSet set;
    for (const auto& row : fixture::read(rows_text()).rows) {
        if (row.suite == suite) set.add(row);
    }
    return "," + to_text(set) + "\n";
}

validate::Scoreboard board_with(double factor) {
    fixture::FakePredictor predictor([=](const validate::RecordedRow& row) { return row.value * factor; });
    return validate::score(fixture::read(rows_text()), predictor);
}

}  // namespace

TEST_CASE("a figure at its ceiling holds, above it fails, missing it fails") {
    const auto board = board_with(1.25);  // an error of exactly 0.25
    CHECK(validate::check_ceilings(board,
                                   ceilings("copy_add,h200-sxm,fit,mape,0.2500001" + rows_of("copy_add")))
              .empty());
    const auto above = validate::check_ceilings(
        board, ceilings("copy_add,h200-sxm,held-out,mape,0.24" + rows_of("copy_add")));
    REQUIRE(above.size() == 1);
    CHECK(to_text(above[0]) == "h200-sxm copy_add held-out mape: 0.25 is above its ceiling 0.24");
    for (const char* missing : {"copy_sub,h200-sxm,fit,mape,1,60:0\n", "copy_add,l40s,fit,mape,1,60:0\n",
                                "counters_copy_add,h200-sxm,fit,median:lts__t_sectors.sum,1,1:0\n"}) {
        const auto violations = validate::check_ceilings(board, ceilings(missing));
        REQUIRE(violations.size() == 1);
        CHECK_FALSE(violations[0].figure);
    }
    CHECK(validate::check_ceilings(board_with(0.75),
                                   ceilings("copy_add,h200-sxm,fit,bias,0.25" + rows_of("copy_add")))
              .size() == 1);
}

TEST_CASE("ceilings tighten, never rise, and new suites get theirs") {
    const auto board = board_with(1.05);
    const auto tight =
        validate::tighten_ceilings(board, ceilings("copy_add,h200-sxm,fit,mape,0.2" + rows_of("copy_add") +
                                                   "copy_add,h200-sxm,held-out,mape,0.01" +
                                                   rows_of("copy_add") + "gone,x,fit,mape,0.3,1:0\n"));
    const auto find = [&](const std::string& suite, validate::Split split) -> double {
        for (const auto& c : tight) {
            if (c.place.suite == suite && c.place.split == split && c.place.metric == "mape")
                return c.ceiling;
        }
        return -1.0;
    };
    CHECK(find("copy_add", validate::Split::fit) == doctest::Approx(0.0505).epsilon(1e-3));
    CHECK(find("copy_add", validate::Split::fit) >= 0.05);
    CHECK(find("copy_add", validate::Split::held_out) == 0.01);
    CHECK(find("gone", validate::Split::fit) == 0.3);
    // Places without a ceiling got one, also the counter's only row.
    CHECK(std::count_if(tight.begin(), tight.end(), [](const validate::Ceiling& c) {
              return c.place.suite == "counters_copy_add";
          }) == 1);
    CHECK(find("copy_add", validate::Split::development) == doctest::Approx(0.0505).epsilon(1e-3));

    const auto fresh = validate::tighten_ceilings(board, {});
    CHECK(validate::check_ceilings(board, fresh).empty());
    CHECK(validate::check_ceilings(board_with(1.06), fresh).size() >= 3);
    CHECK(fresh[0].rows.substr(0, 3) == "60:");
    // A ceiling about other rows says nothing, which is a violation. Tightening sets the ceiling anew, higher
    // or not.
    const auto old = ceilings("copy_add,h200-sxm,fit,mape,0.01,59:0\n");
    const auto stale = validate::check_ceilings(board, old);
    REQUIRE(stale.size() == 1);
    CHECK(to_text(stale[0]).find("the ceiling is about 59:0") != std::string::npos);
    const auto anew = validate::tighten_ceilings(board, old);
    const auto set = std::find_if(anew.begin(), anew.end(), [](const validate::Ceiling& c) {
        return c.place.suite == "copy_add" && c.place.metric == "mape";
    });
    REQUIRE(set != anew.end());
    CHECK("," + set->rows + "\n" == rows_of("copy_add"));
    CHECK(set->ceiling == doctest::Approx(0.0505).epsilon(1e-3));
    // Ceilings that are written and read back are the same.
    std::istringstream in(validate::write_ceilings(fresh));
    const auto again = validate::read_ceilings(in, "again");
    REQUIRE(again.size() == fresh.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        CHECK(again[i].place.metric == fresh[i].place.metric);
        CHECK(again[i].ceiling == doctest::Approx(fresh[i].ceiling).epsilon(1e-6));
        CHECK(again[i].place.split == fresh[i].place.split);
        CHECK(again[i].rows == fresh[i].rows);
    }
}

TEST_CASE("ceilings on bands and choices stop where the target and chance are met") {
    // 60 configurations of one shape, each predicted exactly; the fixture's band always holds.
    std::string text = fixture::header;
    for (int i = 1; i <= 60; ++i) {
        text += fixture::line("sweep", "gemm",
                              fmt::format("cta_tile=64x64x32 dtype=bf16 group_m={} k=512 m=512 n=512", i),
                              11.0 + i);
    }
    fixture::FakePredictor predictor([](const validate::RecordedRow& row) { return row.value * 1.01; });
    const auto board = validate::score(fixture::read(text), predictor);
    const auto split = validate::split_of(validate::case_key("gemm", "dtype=bf16 k=512 m=512 n=512"));
    const auto fresh = validate::tighten_ceilings(board, {});
    const auto ceiling = [&](const std::string& metric, validate::Split of) {
        for (const auto& c : fresh) {
            if (c.place.split == of && c.place.metric == metric) return c.ceiling;
        }
        return -1.0;
    };
    CHECK(ceiling("top1_loss", split) == 0.03);
    CHECK(ceiling("top1_worst_loss", split) == 0.10);
    CHECK(ceiling("top5_loss", split) == 0.005);
    CHECK(ceiling("choice_gap", split) == 0.05);
    const auto other = split == validate::Split::fit ? validate::Split::held_out : validate::Split::fit;
    CHECK(ceiling("top1_loss", other) == -1.0);
    // Rows of a sweep whose shape and configuration disagree are development rows; here are enough such rows.
    const std::size_t rows = board.bands.at(1).bands[1].rows;
    REQUIRE(rows >= 20);
    CHECK(ceiling("coverage:10-100 us", validate::Split::development) ==
          doctest::Approx(std::max(0.2 * 1.01, 0.05 + 1.96 * std::sqrt(0.16 / static_cast<double>(rows))))
              .epsilon(1e-3));
    CHECK(ceiling("band_score:< 10 us", validate::Split::development) == -1.0);
    CHECK(ceiling("band_score:10-100 us", validate::Split::development) ==
          doctest::Approx(1.01 * 2.0 * std::log(1.1)).epsilon(1e-3));
    CHECK(validate::check_ceilings(board, fresh).empty());
}

TEST_CASE("faults of the file are named") {
    for (const char* bad :
         {"s,g,fit,mapee,1,1:0\n", "s,g,fitted,mape,1,1:0\n", "s,g,fit,mape,-1,1:0\n", "s,g,fit,mape,x,1:0\n",
          "s,g,fit,mape,1\n", "s,g,fit,mape,1,1\n", "s,g,fit,coverage:12 us,1,1:0\n",
          "s,g,fit,top2_loss,1,1:0\n", "s,g,fit,mape,1,1:0\ns,g,fit,mape,2,1:0\n"}) {
        CHECK_THROWS_AS(static_cast<void>(ceilings(bad)), warptime::Error);
    }
}

TEST_CASE("the command checks, tightens in place, and exits with 1 above a ceiling") {
    namespace fs = std::filesystem;
    const fs::path root = fs::temp_directory_path() / "warptime_expected_errors_test";
    fs::remove_all(root);
    fs::create_directories(root / "recorded" / "h200-sxm");
    std::ofstream(root / "recorded" / "h200-sxm" / "rows.csv") << rows_text();

    const auto run = [&](double factor, bool check, bool tighten, std::size_t sample = 0) {
        fixture::FakePredictor predictor(
            [=](const validate::RecordedRow& row) { return row.value * factor; });
        validate::RowPredictor* const predictors[] = {&predictor};
        validate::CommandOptions options;
        options.data = root / "recorded";
        options.check = check;
        options.tighten = tighten;
        options.score.sample = sample;
        options.score.suites = {"copy_add", "counters_copy_add"};  // without the bands of all operators
        return validate::validate_recorded(predictors, options);
    };
    CHECK_THROWS_AS(static_cast<void>(run(1.05, true, false)), warptime::Error);  // no ceilings yet
    CHECK(run(1.05, false, true).exit_code == 0);
    CHECK(fs::exists(root / "expected_error.csv"));
    CHECK(run(1.05, true, false).exit_code == 0);
    const auto worse = run(1.2, true, true);
    CHECK(worse.exit_code == 1);
    CHECK(worse.messages.find("mape") != std::string::npos);
    CHECK(run(1.05, true, false).exit_code == 0);  // the worse run raised no ceiling
    CHECK(run(1.02, false, true).exit_code == 0);
    CHECK(run(1.05, true, false).exit_code == 1);  // the better run tightened the ceilings
    CHECK_THROWS_AS(static_cast<void>(run(1.02, true, false, 5)),
                    warptime::Error);  // a sample is not all rows
    {
        // A check that compares nothing must not pass.
        fixture::FakePredictor predictor([](const validate::RecordedRow& row) { return row.value; });
        validate::RowPredictor* const predictors[] = {&predictor};
        validate::CommandOptions options;
        options.data = root / "recorded";
        options.check = true;
        options.score.suites = {"counters_copy_add"};
        std::ofstream(root / "expected_error.csv") << "suite,data_set,split,metric,ceiling,rows\n";
        CHECK_THROWS_WITH_AS(static_cast<void>(validate::validate_recorded(predictors, options)),
                             doctest::Contains("at least one ceiling"), warptime::Error);
        options.score.suites.clear();
        options.score.gpus = {"t4"};
        CHECK_THROWS_WITH_AS(static_cast<void>(validate::validate_recorded(predictors, options)),
                             doctest::Contains("--gpu"), warptime::Error);
    }
    CHECK(run(1.02, false, false, 5).output.find("sample") != std::string::npos);
    fs::remove_all(root);
}
