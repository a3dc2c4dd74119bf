// A tiny recorded data set in memory and a predictor of known answers, for the tests of this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"
#include "validate/row_predictor.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace warptime::validate::fixture {

inline const std::string header =
    "suite,op,params,implementation,gpu,cache,duty,data,quantity,value,unit,samples,minimum,spread,method,"
    "steps,"
    "sm_clock_mhz,mem_clock_mhz,kernel_clock_mhz,driver,cuda,library,board,date\n";

/// A line of a duration.
inline std::string line(std::string_view suite, std::string_view op, std::string_view params, double us,
                        std::string_view date = "2026-01-02", std::string_view gpu = "h200-sxm") {
    return fmt::format(
        "{},{},{},{},{},flushed,isolated,random,kernel_us,{},us,9,{},0.01,cupti,,1980,3201,,580,"
        "13.0,torch,H200,{}\n",
        suite, op, params, op == "gemm" ? "cublas" : "torch", gpu, us, us, date);
}

/// A line of a counter.
inline std::string counter_line(std::string_view params, std::string_view metric, double value) {
    return fmt::format(
        "counters_copy_add,copy,{},torch,h200-sxm,cold,isolated,random,{},{},B,1,,,ncu,,,,,580,13.0,"
        "torch,H200,2026-01-02\n",
        params, metric, value);
}

inline RecordedRow row(std::string_view suite, std::string_view op, std::string_view params, double us,
                       std::string_view date = "2026-01-02", std::string_view file = "a.csv") {
    RecordedRow row;
    row.suite = suite;
    row.op = op;
    row.params = params;
    row.gpu = "h200-sxm";
    row.cache = "flushed";
    row.duty = "isolated";
    row.data = "random";
    row.quantity = "kernel_us";
    row.value = us;
    row.unit = "us";
    row.samples = 9;
    row.date = date;
    row.file = file;
    return row;
}

inline RecordedRows read(const std::string& text) {
    std::istringstream in(text);
    RecordedRows rows;
    read_rows(in, "test.csv", rows);
    return rows;
}

/// Answers with a function of the row; a negative time is a refusal.
class FakePredictor : public RowPredictor {
  public:
    using Times = std::function<double(const RecordedRow&)>;
    explicit FakePredictor(Times times) : times_(std::move(times)) {}

    [[nodiscard]] std::string name() const override { return "fake"; }
    [[nodiscard]] RowPrediction predict(const RecordedRow& row) override {
        const double us = times_(row);
        if (us < 0.0) return {0.0, 0.0, 0.0, "", "does not fit"};
        return {us, us / 1.1, us * 1.1, "dram", ""};
    }
    [[nodiscard]] std::vector<std::pair<std::string, double>> counters(const RecordedRow& row) override {
        if (times_(row) < 0.0) return {};
        return {{"dram__bytes_read.sum", 1.1e9}};
    }
    [[nodiscard]] ConstantCount constants(std::string_view, std::span<const RecordedRow* const>) override {
        return {12, 3, 4, 5, 6};
    }

  private:
    Times times_;
};

}  // namespace warptime::validate::fixture
