// A step's text, JSON, CSV and timeline say the same as the prediction.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_prediction.hpp"
#include "workloads/csv.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <string>

using namespace warptime;
using nlohmann::json;
using steps::FileRow;
using steps::StepFile;
using steps::StepPrediction;

namespace {

struct Example {
    StepFile file;
    StepPrediction p;

    Example() {
        for (const auto& [id, op, module] : {std::tuple{"a", "gemm", "layers.0.mlp"},
                                             {"b", "copy", "layers.1"},
                                             {"c", "unknown", "head, \"last\""}}) {
            FileRow row;
            row.id = id;
            row.op = op;
            row.module = module;
            row.stream = op == std::string("copy") ? "side" : "";
            file.rows.push_back(row);
        }
        file.rows[1].repeat = 2;
        p.name = "example";
        p.gpu = "h200-sxm";
        p.engine = "analytical";
        p.cache = "chain";
        p.memory_bytes = std::int64_t{3} << 29;
        p.kernel_us = 100.0;
        p.low_us = 90.0;
        p.high_us = 120.0;
        p.span_us = 90.0;
        p.wall_us = 96.0;
        p.host_us = 5.0;
        p.waiting_us = 10.0;
        p.unknown_us = 20.0;
        p.rows = {{50.0, 45.0, 55.0, 0.0, 50.0, 1, "tensor", "within", "m=16 n=32"},
                  {30.0, 27.0, 33.0, 10.0, 40.0, 1, "dram", "within", "n=8"},
                  {20.0, 7.0, 60.0, 70.0, 90.0, 1, "dram", "prior", "mystery"}};
        p.critical = {0, 2};
    }
};

bool has(const std::string& text, std::string_view part) {
    const bool found = text.find(part) != std::string::npos;
    INFO(text);
    INFO(part);
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("text: totals, sums, and the longest rows") {
    const Example e;
    const std::string text = step_text(e.file, e.p, 2);
    has(text, "example, 3 rows on h200-sxm, cache chain, engine analytical");
    has(text, "100.0 us, 80 % between 90.0 and 120.0 us");
    has(text, "launched as a graph; the host takes 5.0 us, and work waits for it 10.0 us: launch-bound");
    has(text, "20.0 % of the kernels' time rests on a prior");
    has(text, "1.50 GiB");
    has(text, "gemm 50.0 %, copy 30.0 %, unknown 20.0 %");
    has(text, "layers 80.0 %");
    has(text, "n=8 x 2");
    has(text, "1 more rows");
    CHECK(text.find("mystery") == std::string::npos);
    CHECK(step_text(e.file, e.p, 0).find("mystery") != std::string::npos);
}

TEST_CASE("JSON: every row with its share, and the critical path by ids") {
    const Example e;
    const json told = json::parse(step_json(e.file, e.p));
    CHECK(told["schema"] == "warptime.step/1");
    CHECK(told["launch"] == "graph");
    CHECK(told["launch_bound"] == true);
    CHECK(told["unknown_share"] == doctest::Approx(0.2));
    CHECK(told["critical_path"] == json::array({"a", "c"}));
    REQUIRE(told["rows"].size() == 3);
    CHECK(told["rows"][1]["share"] == doctest::Approx(0.3));
    CHECK(told["rows"][1]["repeat"] == 2);
    CHECK(told["rows"][2]["module"] == "head, \"last\"");
    CHECK(told["rows"][2]["status"] == "prior");
}

TEST_CASE("CSV: one line a row, which the CSV reader reads back") {
    const Example e;
    std::istringstream stream(step_csv(e.file, e.p));
    workloads::CsvReader reader(stream, "step.csv");
    workloads::CsvRecord header, record;
    REQUIRE(reader.next(header));
    std::size_t lines = 0;
    while (reader.next(record)) {
        REQUIRE(record.size() == header.size());
        std::map<std::string, std::string> cells;
        for (std::size_t i = 0; i < header.size(); ++i) cells[header[i]] = record[i];
        CHECK(cells["id"] == e.file.rows[lines].id);
        CHECK(cells["module"] == e.file.rows[lines].module);
        CHECK(std::stod(cells["time_us"]) == doctest::Approx(e.p.rows[lines].time_us));
        CHECK(std::stod(cells["end_us"]) == doctest::Approx(e.p.rows[lines].end_us));
        ++lines;
    }
    CHECK(lines == 3);
}

TEST_CASE("timeline: an event a row on its stream's line, and names for both streams") {
    const Example e;
    const json told = json::parse(step_timeline(e.file, e.p));
    std::map<int, std::string> streams;
    std::vector<json> runs;
    for (const json& event : told["traceEvents"]) {
        if (event["ph"] == "X") runs.push_back(event);
        if (event["name"] == "thread_name") streams[event["tid"]] = event["args"]["name"];
    }
    REQUIRE(runs.size() == 3);
    CHECK(streams.at(runs[0]["tid"]) == "stream 0");
    CHECK(streams.at(runs[1]["tid"]) == "stream side");
    CHECK(runs[0]["tid"] == runs[2]["tid"]);
    CHECK(runs[1]["ts"] == 10.0);
    CHECK(runs[1]["dur"] == 30.0);
    CHECK(runs[1]["args"]["shape"] == "n=8");
}
