// Worst cases come in order and with an explanation; no case of the held-out split is shown.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/scoreboard_page.hpp"

#include "model/analytical/engine.hpp"
#include "validate/engine_predictor.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace warptime;
using namespace warptime::validate;

namespace {

RecordedRows copies() {
    RecordedRows rows;
    for (int i = 0; i < 40; ++i) {
        RecordedRow row;
        row.suite = "copies";
        row.op = "copy";
        row.gpu = "h200-sxm";
        row.params = fmt::format("dtype=fp32 n={}", 4'000'000 + 500'000 * i);
        row.quantity = "kernel_us";
        row.unit = "us";
        row.value = 20.0 + i;  // whatever: the errors only have to differ
        row.steps = "copy <kernel>";
        rows.rows.push_back(row);
    }
    rows.files = {"copies.csv"};
    return rows;
}

}  // namespace

TEST_CASE("the worst cases of fit and development rows, and none of the others") {
    const auto engine = model::analytical::make_engine();
    EngineRowPredictor predictor(*engine);
    const RecordedRows rows = copies();
    ScoreOptions options;
    options.keep_rows = true;
    const Scoreboard board = score(rows, predictor, options);
    const std::string page = reports::scoreboard_page(board, *engine, 3);

    std::vector<const ScoredRow*> known;
    for (const ScoredRow& scored : board.suites.front().engines.front().rows) {
        const std::string heading = fmt::format("<h3>{} {}</h3>", scored.row->op, scored.row->params);
        if (scored.split == Split::held_out) {
            CHECK(page.find(heading) == std::string::npos);
        } else {
            known.push_back(&scored);
        }
    }
    REQUIRE(known.size() > 3);
    REQUIRE(known.size() < rows.rows.size());
    const auto error = [](const ScoredRow* s) {
        return std::abs(std::log(s->prediction.time_us / s->row->value));
    };
    std::stable_sort(known.begin(), known.end(),
                     [&](const ScoredRow* a, const ScoredRow* b) { return error(a) > error(b); });
    std::size_t before = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t at = page.find(fmt::format("<h3>copy {}</h3>", known[i]->row->params));
        REQUIRE(at != std::string::npos);
        CHECK(at > before);
        before = at;
    }
    CHECK(page.find(fmt::format("<h3>copy {}</h3>", known[3]->row->params)) == std::string::npos);
    CHECK(page.find("s time is ") != std::string::npos);
    CHECK(page.find("copy &lt;kernel&gt;") != std::string::npos);
    CHECK(page.find(fmt::format("h200-sxm copies ({})", known.size())) != std::string::npos);
}

TEST_CASE("a board without operators has figures and no plot") {
    const auto engine = model::analytical::make_engine();
    const std::string page = reports::scoreboard_page({}, *engine);
    CHECK(page.find("there are no plots") != std::string::npos);
}
