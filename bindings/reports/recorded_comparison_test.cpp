// The comparison with recorded rows finds the row of this very case and no other.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/recorded_comparison.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace {

namespace validate = warptime::validate;
using warptime::model::prediction::Cache;
using warptime::model::prediction::Conditions;
using warptime::model::prediction::Prediction;
using warptime::reports::recorded_row_of;
using warptime::reports::recorded_text;
using warptime::reports::with_recorded_json;
using warptime::workloads::make_operation;
using warptime::workloads::Operation;

validate::RecordedRow row_of(const std::string& params, double time_us, const std::string& date) {
    validate::RecordedRow row;
    row.suite = "gemm_bf16";
    row.op = "gemm";
    row.params = params;
    row.implementation = "cublas";
    row.gpu = "h200-sxm";
    row.cache = "flushed";
    row.quantity = "kernel_us";
    row.value = time_us;
    row.samples = 9;
    row.board = "NVIDIA H200";
    row.library = "cublas 13.1.0";
    row.date = date;
    return row;
}

validate::RecordedRows rows_of_one_shape() {
    validate::RecordedRows rows;
    rows.rows = {row_of("dtype=bf16 k=4096 m=4096 n=4096", 170.0, "2026-11-21"),
                 row_of("b_major=n dtype=bf16 k=4096 m=4096 n=4096", 171.0, "2026-11-22"),
                 row_of("dtype=bf16 k=4096 m=4096 n=4096", 174.0, "2026-11-20")};
    return rows;
}

Operation square(const std::map<std::string, std::string, std::less<>>& more = {}) {
    std::map<std::string, std::string, std::less<>> parameters{{"m", "4096"}, {"n", "4096"}, {"k", "4096"}};
    parameters.insert(more.begin(), more.end());
    return make_operation("gemm", parameters);
}

double time_found(const Operation& operation, const Conditions& conditions = {},
                  std::string_view gpu = "h200-sxm") {
    const auto row = recorded_row_of(rows_of_one_shape(), operation, conditions, gpu);
    return row ? row->value : 0.0;
}

Prediction predicted(double time, double low, double high) {
    Prediction p;
    p.time = time;
    p.low = low;
    p.high = high;
    return p;
}

}  // namespace

TEST_CASE("the newest row of the same case counts, with defaults written out or not") {
    CHECK(time_found(square()) == 170.0);
    CHECK(time_found(square({{"dtype", "bf16"}, {"implementation", "cublas"}, {"b_major", "k"}})) == 170.0);
    CHECK(time_found(square({{"b_major", "n"}})) == 171.0);
}

TEST_CASE("another shape, tile, library, condition or GPU is another case") {
    CHECK(time_found(square({{"cta_tile", "128x128x64"}})) == 0.0);
    CHECK(time_found(square({{"dtype", "fp16"}})) == 0.0);
    CHECK(time_found(square({{"implementation", "triton"}})) == 0.0);
    CHECK(time_found(make_operation("copy", {{"n", "4096"}})) == 0.0);
    CHECK(time_found(square(), {.cache = Cache::warm}) == 0.0);
    CHECK(time_found(square(), {}, "a100-sxm-80gb") == 0.0);
}

TEST_CASE("the error is relative to the recorded time and signed") {
    const auto row = recorded_row_of(rows_of_one_shape(), square(), {}, "h200-sxm");
    const std::string text = recorded_text(row, predicted(153e-6, 140e-6, 160e-6));
    CHECK(text.find("recorded    170.0 us, median of 9 on NVIDIA H200, 2026-11-21 (cublas 13.1.0)") == 0);
    CHECK(text.find("error       -10.0 %, outside the band") != std::string::npos);
    CHECK(recorded_text(row, predicted(187e-6, 160e-6, 200e-6)).find("+10.0 %, inside the band") !=
          std::string::npos);
    CHECK(recorded_text({}, predicted(1.0, 1.0, 1.0)) == "recorded    this case was not recorded\n");
}

TEST_CASE("the report in JSON gets one member more") {
    const auto row = recorded_row_of(rows_of_one_shape(), square(), {}, "h200-sxm");
    const Prediction p = predicted(187e-6, 160e-6, 200e-6);
    const auto report = nlohmann::json::parse(with_recorded_json(R"({"time_us":187.0})", row, p));
    CHECK(report.at("time_us") == 187.0);
    CHECK(report.at("recorded").at("time_us") == 170.0);
    CHECK(report.at("recorded").at("error").get<double>() == doctest::Approx(0.1));
    CHECK(report.at("recorded").at("in_band") == true);
    CHECK(nlohmann::json::parse(with_recorded_json("{}", {}, p)).at("recorded").is_null());
}
