// A step's text, JSON, CSV and timeline say the same as the prediction.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_prediction.hpp"
#include "workloads/csv.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

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

/// The example under a power limit.
Example held() {
    Example e;
    e.p.power = steps::StepPower{649.6, 0.873};
    double energy = 32.5;
    for (steps::PredictedRow& row : e.p.rows) {
        row.energy_mj = energy;
        row.clock_mhz = 40.0 * energy;
        energy *= 0.5;
    }
    return e;
}

/// The lines of a CSV, by the names of its columns.
std::vector<std::map<std::string, std::string>> lines_of(const std::string& text) {
    std::istringstream stream(text);
    workloads::CsvReader reader(stream, "step.csv");
    workloads::CsvRecord header, record;
    REQUIRE(reader.next(header));
    std::vector<std::map<std::string, std::string>> lines;
    while (reader.next(record)) {
        REQUIRE(record.size() == header.size());
        auto& cells = lines.emplace_back();
        for (std::size_t i = 0; i < header.size(); ++i) cells[header[i]] = record[i];
    }
    return lines;
}

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
    const auto lines = lines_of(step_csv(e.file, e.p));
    REQUIRE(lines.size() == 3);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i].at("id") == e.file.rows[i].id);
        CHECK(lines[i].at("module") == e.file.rows[i].module);
        CHECK(std::stod(lines[i].at("time_us")) == doctest::Approx(e.p.rows[i].time_us));
        CHECK(std::stod(lines[i].at("end_us")) == doctest::Approx(e.p.rows[i].end_us));
    }
}

TEST_CASE("power is told where a limit holds the step, and nowhere else") {
    const Example limited = held(), free;
    has(step_text(limited.file, limited.p, 0),
        "power       650 W on average, at 87.3 % of the clocks without");
    CHECK(step_text(free.file, free.p, 0).find("power ") == std::string::npos);
    const json told = json::parse(step_json(limited.file, limited.p));
    CHECK(told["power"] == json{{"average_w", 649.6}, {"clock_share", 0.873}});
    CHECK(told["rows"][1]["energy_mj"] == 16.25);
    CHECK(told["rows"][1]["clock_mhz"] == 650.0);
    const json untold = json::parse(step_json(free.file, free.p));
    CHECK(untold["power"].is_null());
    CHECK_FALSE(untold["rows"][1].contains("energy_mj"));
    CHECK_FALSE(untold["rows"][1].contains("clock_mhz"));
    const auto line = lines_of(step_csv(limited.file, limited.p)).at(1);
    CHECK(line.at("energy_mj") == "16.25");
    CHECK(line.at("clock_mhz") == "650");
    const auto empty = lines_of(step_csv(free.file, free.p)).at(1);
    CHECK(empty.at("energy_mj").empty());
    CHECK(empty.at("clock_mhz").empty());
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
