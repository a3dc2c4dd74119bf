// The terminal reports: the expected contents, in readable units and the right order.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/prediction_text.hpp"

#include "bindings/reports/prediction_fixture_test.hpp"
#include "bindings/reports/share_meaning.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warptime::model::prediction;
using namespace warptime::reports;

namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the short form is nine lines") {
    const std::string text = short_text(example_prediction(), example_context());
    CHECK(std::count(text.begin(), text.end(), '\n') == 9);
    CHECK(contains(text, "gemm m=4096 n=4096 k=4096 dtype=bf16\n"));
    CHECK(contains(text, "200.0 us, 80 % between 190.0 us and 212.0 us"));
    CHECK(contains(text, "tensor_core, class compute"));
    CHECK(contains(text, "687.0 TFLOP/s"));
    CHECK(contains(text, "500.0 GB/s"));
    CHECK(contains(text, "3.88 waves"));
    CHECK(contains(text, "tensor_core 88.0 %, tail 10.0 %, prologue 1.5 %, launch 0.5 %"));
    CHECK(contains(text, "17 fitted constants"));
}

TEST_CASE("warnings of a compiler are lines of their own") {
    auto prediction = example_prediction();
    prediction.warnings = {"ptxas: wgmma is serialized", "another"};
    const std::string text = short_text(prediction, example_context());
    CHECK(contains(text, "warning     ptxas: wgmma is serialized\nwarning     another\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 11);
}

TEST_CASE("explain sorts bounds by time and shows their inputs") {
    const std::string text = explain_text(example_prediction(), example_context());
    const std::size_t bounds = text.find("\nbounds");
    REQUIRE(bounds != std::string::npos);
    CHECK(text.find("tensor_core", bounds) < text.find("dram", bounds));
    CHECK(contains(text, "bytes 100000000, bytes_per_s 4000000000000"));
    CHECK(contains(text, "dram__bytes_read.sum"));
    CHECK(contains(text, "67108864"));
    CHECK(contains(text, "memset"));
    CHECK(contains(text, "first start to last end 203.0 us"));
}

TEST_CASE("bars are as long as their shares") {
    const std::string text = explain_text(example_prediction(), example_context());
    // 88 % and 10 % of 40 characters.
    CHECK(contains(text, "  " + std::string(35, '#') + "\n"));
    CHECK(contains(text, "  " + std::string(4, '#') + "\n"));
    CHECK(std::count(text.begin(), text.end(), '#') == 35 + 4 + 1);
}

TEST_CASE("every share is defined below the bars") {
    const std::string text = explain_text(example_prediction(), example_context());
    CHECK(contains(text, "shares of the time, which add up to 100 %\n"));
    for (const auto& [name, share] : example_prediction().shares) {
        CAPTURE(name);
        CHECK_FALSE(share_meaning(name).empty());
        CHECK(contains(text, share_meaning(name)));
    }
    CHECK(share_meaning("main_loop:l2") == share_meaning("main_loop:tensor_core"));
    CHECK(share_meaning("lunch") != share_meaning("launch"));
}

TEST_CASE("what does not apply is not printed") {
    Prediction p = example_prediction();
    p.occupancy = {0, 0, "none", "none"};
    p.flops_per_s = p.l2_bytes_per_s = 0.0;
    p.utilization = {};
    p.utilization.dram = 0.9;
    const std::string text = explain_text(p, example_context());
    CHECK(contains(text, "achieved    DRAM 500.0 GB/s\n"));
    CHECK_FALSE(contains(text, "CTAs and"));
    CHECK_FALSE(contains(text, "FLOP/s"));
    CHECK_FALSE(contains(text, "tensor 0.0 %"));
    CHECK(contains(text, "  dram 90.0 %\n"));
}

TEST_CASE("inherited constants are told from the GPU's own") {
    Prediction p = example_prediction();
    p.constants = {3, 163};
    CHECK(
        contains(short_text(p, example_context()), "166 fitted constants, 3 of this GPU and 163 inherited)"));
}

TEST_CASE("a clock that was asked for is part of the answer") {
    ReportContext context = example_context();
    context.conditions.clock_hz = 1.5e9;
    CHECK(contains(short_text(example_prediction(), context), ", SM clock 1.500 GHz, engine"));
}

TEST_CASE("no line ends in a blank") {
    const std::string text = explain_text(example_prediction(), example_context());
    CHECK_FALSE(contains(text, " \n"));
}
