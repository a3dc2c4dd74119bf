// The rows of a scoreboard, read back as CSV.
// SPDX-License-Identifier: Apache-2.0
#include "validate/scoreboard_rows.hpp"

#include "validate/recorded_case.hpp"
#include "validate/recorded_fixture_test.hpp"
#include "workloads/csv.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;
namespace workloads = warptime::workloads;

namespace {

using Line = std::map<std::string, std::string>;

std::vector<Line> lines_of(const std::string& text) {
    std::istringstream in(text);
    workloads::CsvTable table(in, "rows.csv");
    std::vector<Line> lines;
    for (workloads::CsvRecord record; table.next(record);) {
        REQUIRE(record.size() == table.columns().size());
        Line& line = lines.emplace_back();
        for (std::size_t i = 0; i < record.size(); ++i) line[table.columns()[i]] = record[i];
    }
    return lines;
}

}  // namespace

TEST_CASE("each row of the scoreboard is a line, the held-out ones only where they are asked for") {
    std::string text = fixture::header;
    std::map<std::string, std::size_t> counts;
    for (int i = 1; i <= 60; ++i) {
        const std::string params = fmt::format("dtype=bf16 n={}", i * 1000000);
        text += fixture::line("copy_add", "copy", params, 10.0 * i);
        ++counts[std::string(to_string(validate::split_of(validate::case_key("copy", params))))];
    }
    text += fixture::line("other", "unknown_op", "n=3", 10);
    const auto rows = fixture::read(text);
    // Every seventh row is refused.
    fixture::FakePredictor predictor(
        [](const validate::RecordedRow& row) { return row.line % 7 == 0 ? -1.0 : row.value * 1.25; });

    validate::ScoreOptions options;
    CHECK(lines_of(validate::rows_csv(validate::score(rows, predictor, options), true)).empty());
    options.keep_rows = true;
    const auto board = validate::score(rows, predictor, options);
    const auto all = lines_of(validate::rows_csv(board, true));
    CHECK(all.size() == 60);
    const auto seen = lines_of(validate::rows_csv(board, false));
    CHECK(counts["held-out"] > 0);
    CHECK(seen.size() == counts["fit"] + counts["development"]);
    std::size_t refused = 0;
    for (Line line : seen) {
        CHECK(line["split"] == to_string(validate::split_of(validate::case_key(line["op"], line["params"]))));
        CHECK(line["split"] != "held-out");
        CHECK(line["suite"] == "copy_add");
        CHECK(line["quantity"] == "kernel_us");
        CHECK(line["engine"] == "fake");
        if (line["refusal"].empty()) {
            const double measured = std::stod(line["measured"]);
            CHECK(std::stod(line["predicted"]) == doctest::Approx(1.25 * measured));
            CHECK(std::stod(line["low"]) < std::stod(line["high"]));
            CHECK(line["error"] == "0.25");
            CHECK(line["limiter"] == "dram");
        } else {
            ++refused;
            CHECK(line["refusal"] == "does not fit");
            CHECK(line["predicted"].empty());
            CHECK(line["error"].empty());
        }
    }
    CHECK(refused > 0);
}
