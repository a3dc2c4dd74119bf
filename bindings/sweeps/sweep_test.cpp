// A sweep equals its points predicted one by one, whatever the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/sweep.hpp"

#include "bindings/engines/engines.hpp"
#include "bindings/sweeps/grid_fixture_test.hpp"
#include "hw/error.hpp"
#include "hw/quantity.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

using namespace warptime::sweeps;

namespace {

std::string text_of(const Grid& grid, unsigned threads, std::uint64_t begin = 0) {
    SweepOptions options;
    options.begin = begin;
    options.end = grid.points();
    options.threads = threads;
    options.with_text = true;
    std::string text;
    std::uint64_t at = begin;
    options.take = [&](const Rows& rows) {
        CHECK(rows.begin == at);
        at += rows.size();
        text += rows.text;
    };
    CHECK(sweep(grid, options));
    CHECK(at == grid.points());
    return text;
}

}  // namespace

TEST_CASE("rows are predictions") {
    const Grid grid = fixture::small_grid();
    std::string expected;
    std::uint64_t point = 0;
    for (const char* gpu_name : {"h200-sxm", "a100-sxm-80gb"}) {
        for (const char* l2 : {"1x", "2x"}) {
            const auto gpu = warptime::hw::load_gpu(
                gpu_name, std::vector{warptime::hw::parse_setting(std::string("gpu.l2.capacity=") + l2)});
            const auto engine = warptime::engines::make_engine("analytical");
            warptime::workloads::Predictor predictor(*engine, gpu);
            for (const char* cache : {"flushed", "warm", "cold"}) {
                warptime::model::prediction::Conditions conditions;
                warptime::workloads::set_condition(conditions, "cache", cache);
                for (const char* m : {"128", "100"}) {
                    for (const char* n : {"64", "4096", "8192"}) {
                        const auto operation =
                            warptime::workloads::make_operation("gemm", {{"m", m}, {"n", n}, {"k", "512"}});
                        const auto e = predictor.evaluate(operation, conditions);
                        grid.append_cells(expected, point++);
                        const double us = warptime::hw::us_per_s;
                        expected += fmt::format("{},{},{},{},what-if,\n", e.time * us, e.low * us,
                                                e.high * us, to_string(e.limiter));
                    }
                }
            }
        }
    }
    CHECK(text_of(grid, 1) == expected);
    CHECK(text_of(grid, 3) == expected);
}

TEST_CASE("the order of rows does not depend on threads, and a later part equals the end of the whole") {
    std::vector<std::string> sizes;
    for (int size = 1; size <= 700; ++size) sizes.push_back(std::to_string(size));
    const Grid grid = fixture::gemm_grid({{"m", sizes},
                                          {"n", {"64", "128"}},
                                          {"k", {"256"}},
                                          {"implementation", {"triton"}},
                                          {"cta_tile", {"64x64x64"}},
                                          {"stages", {"3", "2000000"}},
                                          {"warps", {"4"}}});
    const std::string whole = text_of(grid, 1);
    CHECK(text_of(grid, 7) == whole);
    const std::string end = text_of(grid, 2, 2000);
    CHECK(whole.ends_with(end));
    CHECK(std::count(end.begin(), end.end(), '\n') == 800);
    // Every second row has a number of stages that does not fit.
    CHECK(std::count(whole.begin(), whole.end(), '"') == 2 * 1400);
}

TEST_CASE("a point that is refused has its reason, and the others their times") {
    const Grid grid = fixture::gemm_grid({{"m", {"4096"}},
                                          {"n", {"4096"}},
                                          {"k", {"4096"}},
                                          {"implementation", {"triton"}},
                                          {"cta_tile", {"128x128x64", "7x7x7"}},
                                          {"gpu.sm.count", {"132", "1"}},
                                          {"available_sms", {"100"}}});
    Rows all;
    SweepOptions options;
    options.end = grid.points();
    options.threads = 2;
    options.take = [&all](const Rows& rows) {
        for (const double time : rows.time) all.time.push_back(time);
        for (const auto& [row, why] : rows.errors) {
            all.errors.emplace_back(static_cast<std::size_t>(rows.begin) + row, why);
        }
    };
    CHECK(sweep(grid, options));
    REQUIRE(all.errors.size() == 3);
    CHECK(all.time[0] > 0.0);
    CHECK(all.errors[0].first == 1);
    CHECK(all.errors[0].second.find("7x7x7") != std::string::npos);
    for (std::size_t row = 2; row < 4; ++row) {
        CHECK(std::isnan(all.time[row]));
        CHECK(all.errors[row - 1].second.find("available_sms") != std::string::npos);
    }
}

TEST_CASE("what the caller throws ends a sweep, and so does an interrupt") {
    const Grid grid = fixture::small_grid();
    SweepOptions options;
    options.end = grid.points();
    options.threads = 2;
    options.take = [](const Rows&) { throw std::runtime_error("full"); };
    CHECK_THROWS_AS(sweep(grid, options), std::runtime_error);
    options.take = [](const Rows&) {};
    options.interrupted = [] { return true; };
    CHECK_FALSE(sweep(grid, options));
}
