// Reading recorded rows: accepted rows, and faults that are named by file, line and column.
// SPDX-License-Identifier: Apache-2.0
#include "validate/recorded_rows.hpp"

#include "hw/error.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;

namespace {

/// The error's text for a text of rows; empty when it is accepted.
std::string fault(const std::string& text) {
    try {
        static_cast<void>(fixture::read(text));
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a row is read field by field, empty optional numbers as NaN") {
    const auto rows =
        fixture::read(fixture::header + fixture::line("copy", "copy", "dtype=bf16 n=1024", 12.5) +
                      fixture::counter_line("dtype=bf16 n=1024", "dram__bytes_read.sum", 0));
    REQUIRE(rows.rows.size() == 2);
    const auto& row = rows.rows[0];
    CHECK(row.suite == "copy");
    CHECK(row.value == 12.5);
    CHECK(row.samples == 9);
    CHECK(row.sm_clock_mhz == 1980);
    CHECK(std::isnan(row.kernel_clock_mhz));
    CHECK(row.cache == "flushed");
    CHECK(row.date == "2026-01-02");
    CHECK(row.file == "test.csv");
    CHECK(row.line == 2);
    CHECK(std::isnan(rows.rows[1].spread));
    CHECK(rows.rows[1].value == 0.0);
    CHECK(validate::identity_of(row) != validate::identity_of(rows.rows[1]));
}

TEST_CASE("a file may say what other launches touch between two runs of a warm row") {
    const auto with = [](const std::string& cache, const std::string& between) {
        std::string text = fixture::header + fixture::line("copy", "copy", "dtype=bf16 n=1024", 12.5);
        text.pop_back();
        text = replaced(text, "\n", ",between\n") + "," + between + "\n";
        return replaced(text, "flushed", cache);
    };
    const auto row = fixture::read(with("warm", "64MiB")).rows.at(0);
    CHECK(row.between == "64MiB");
    CHECK(validate::conditions_of(row).between == 67108864.0);
    const auto without = fixture::read(with("warm", "")).rows.at(0);
    CHECK(validate::conditions_of(without).between == 0.0);
    CHECK(validate::identity_of(row) != validate::identity_of(without));
    CHECK(fault(with("cold", "64MiB")).find("column between: got '64MiB'") != std::string::npos);
}

TEST_CASE("a file may say which operands of a warm row take turns") {
    const auto with = [](const std::string& between, const std::string& in_turn) {
        std::string text = fixture::header + fixture::line("copy", "copy", "dtype=bf16 n=1024", 12.5);
        text.pop_back();
        text = replaced(text, "\n", ",between,in_turn\n");
        return replaced(text, "flushed", "warm") + "," + between + "," + in_turn + "\n";
    };
    const auto row = fixture::read(with("64MiB", "in")).rows.at(0);
    CHECK(validate::conditions_of(row).in_turn.front() == warptime::model::kernel::Name("in"));
    const auto all = fixture::read(with("64MiB", "")).rows.at(0);
    CHECK(validate::conditions_of(all).in_turn == decltype(validate::conditions_of(all).in_turn){});
    CHECK(validate::identity_of(row) != validate::identity_of(all));
    CHECK(fault(with("", "in")).find("column in_turn: got 'in'") != std::string::npos);
}

TEST_CASE("columns may come in any order, quoted, with CRLF") {
    // Move the first column to the end.
    const auto rotate = [](std::string line) {
        line.pop_back();
        const std::size_t comma = line.find(',');
        return line.substr(comma + 1) + ",\"" + line.substr(0, comma) + "\"\r\n";
    };
    const auto rows = fixture::read(rotate(fixture::header) + rotate(fixture::line("s1", "copy", "n=4", 3)));
    CHECK(rows.rows[0].suite == "s1");
    CHECK(rows.rows[0].op == "copy");
}

TEST_CASE("a fault is named by file, line and column") {
    const std::string good = fixture::line("copy", "copy", "dtype=bf16 n=1024", 12.5);
    CHECK(fault(fixture::header + good).empty());
    const auto has = [&](const std::string& line, const std::string& words) {
        const std::string said = fault(fixture::header + good + line);
        CHECK_MESSAGE(said.find("test.csv line 3") != std::string::npos, said);
        CHECK_MESSAGE(said.find(words) != std::string::npos, said);
    };
    has(replaced(good, ",12.5,us", ",12.5us,us"), "column value");
    has(replaced(good, ",12.5,us", ",-1,us"), "column value");
    has(replaced(good, ",12.5,us", ",nan,us"), "column value");
    has(replaced(good, ",12.5,us", ",0,us"), "column value");
    has(replaced(good, ",12.5,us", ",12.5,ms"), "column unit");
    has(replaced(good, "us,9,", "us,0,"), "column samples");
    has(replaced(good, "us,9,", "us,9.5,"), "column samples");
    has(replaced(good, "2026-01-02", "2026-13-02"), "column date");
    has(replaced(good, "2026-01-02", "yesterday"), "column date");
    has(replaced(good, "dtype=bf16 n=1024", "n=1024 dtype=bf16"), "column params");
    has(replaced(good, "dtype=bf16 n=1024", "dtype=bf16  n=1024"), "column params");
    has(replaced(good, "dtype=bf16 n=1024", "dtype= n=1024"), "column params");
    has(replaced(good, "copy,copy", ",copy"), "column suite");
    has("copy,copy\n", "2 fields");
}

TEST_CASE("a missing or unknown column is named") {
    const std::string unknown = fault(replaced(fixture::header, "spread", "spraed"));
    CHECK(unknown.find("spraed") != std::string::npos);
    CHECK(unknown.find("spread") != std::string::npos);
    const std::string missing = fault(replaced(fixture::header, "spread,", ""));
    CHECK(missing.find("spread") != std::string::npos);
}

TEST_CASE("folders are GPUs, and a row of another GPU in one is refused") {
    namespace fs = std::filesystem;
    const fs::path root = fs::temp_directory_path() / "warptime_recorded_rows_test";
    fs::remove_all(root);
    fs::create_directories(root / "h200-sxm");
    const std::string text = fixture::header + fixture::line("copy", "copy", "n=8", 1);
    std::ofstream(root / "h200-sxm" / "b.csv") << text;
    std::ofstream(root / "h200-sxm" / "a.csv") << text << fixture::line("copy", "copy", "n=16", 2);
    std::ofstream(root / "h200-sxm" / "notes.txt") << "no rows";
    const auto rows = validate::read_recorded(root);
    CHECK(rows.files == std::vector<std::string>{"h200-sxm/a.csv", "h200-sxm/b.csv"});
    CHECK(rows.rows.size() == 3);
    CHECK(validate::find_recorded(root) == root);

    fs::create_directories(root / "l40s");
    std::ofstream(root / "l40s" / "a.csv") << text;
    CHECK_THROWS_AS(static_cast<void>(validate::read_recorded(root)), warptime::Error);
    fs::remove_all(root);
    CHECK_THROWS_AS(static_cast<void>(validate::read_recorded(root)), warptime::Error);
}

TEST_CASE("a case's key parts shape and configuration; the implementation is in neither") {
    const auto library = validate::case_key("gemm", "dtype=bf16 k=64 m=32 n=16");
    CHECK(library.shape == "gemm dtype=bf16 k=64 m=32 n=16");
    CHECK(library.configuration.empty());
    const auto tile = validate::case_key(
        "gemm", "cta_tile=128x64x32 dtype=bf16 implementation=triton k=64 m=32 n=16 stages=3");
    CHECK(tile.shape == library.shape);
    CHECK(tile.configuration == "cta_tile=128x64x32 stages=3");
    // Defaults written out are the same case.
    CHECK(validate::case_key("gemm", "batch=1 dtype=bf16 k=64 m=32 n=16").shape == library.shape);
    CHECK(validate::case_key("gemm", "b_major=n dtype=bf16 k=64 m=32 n=16").shape != library.shape);
    CHECK(validate::case_key("pointer_chase", "bytes=64").shape == "pointer_chase bytes=64");
    CHECK(validate::case_key("empty", "").shape == "empty");
    CHECK_THROWS_AS(static_cast<void>(validate::case_key("gemm", "depth=3")), warptime::Error);
}

TEST_CASE("a step is split by its model, and its sum and wall time are predicted") {
    const std::string_view params = "batch=8 kind=train length=512 model=gpt-1024";
    CHECK(validate::case_key("step", params).shape == "gpt-1024");
    CHECK(validate::step_name(params) == "gpt-1024-train-8x512");
    CHECK_THROWS_WITH_AS(static_cast<void>(validate::step_name("batch=8 kind=train model=gpt")),
                         doctest::Contains("step length"), warptime::Error);
    auto row = fixture::row("steps", "step", params, 20);
    CHECK(validate::is_predictable(row));
    row.quantity = "wall_us";
    CHECK(validate::is_predictable(row));
    row.quantity = "span_us";
    CHECK_FALSE(validate::is_predictable(row));
    // The wall time of an operator is that of its host.
    row = fixture::row("collectives", "all_reduce", "bytes=1024 dtype=bf16 gpus=2", 20);
    CHECK(validate::is_predictable(row));
    row.quantity = "wall_us";
    CHECK_FALSE(validate::is_predictable(row));
}

TEST_CASE("a row's conditions and implementation reach the model") {
    auto row = fixture::row("gemm_bf16", "gemm", "dtype=bf16 k=64 m=32 n=16", 20);
    row.cache = "cold";
    row.duty = "";
    row.data = "zeros";
    row.implementation = "cublas";
    namespace prediction = warptime::model::prediction;
    const auto conditions = validate::conditions_of(row);
    CHECK(conditions.cache == prediction::Cache::cold);
    CHECK(conditions.duty == prediction::Duty::isolated);
    CHECK(conditions.data == prediction::OperandData::zeros);
    CHECK(validate::operation_of(row).parameters.at("implementation") == "cublas");
    CHECK(validate::is_predictable(row));
    row.suite = "microbench_mma";
    CHECK_FALSE(validate::is_predictable(row));
    row = fixture::row("s", "softmaxx", "", 20);
    CHECK_FALSE(validate::is_predictable(row));
    row = fixture::row("s", "copy", "n=8", 20);
    row.quantity = "clock_mhz";
    CHECK_FALSE(validate::is_predictable(row));
}
