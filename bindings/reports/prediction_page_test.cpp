// Every figure of the JSON is on the page, and text that is no report is refused.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/prediction_page.hpp"

#include "bindings/reports/prediction_fixture_test.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/would_help.hpp"
#include "hw/error.hpp"

#include <doctest/doctest.h>

using namespace warptime::reports;

TEST_CASE("the page has the time, its causes, the bounds with their inputs, and what would help") {
    const std::string json = with_would_help_json(to_json(example_prediction(), example_context()),
                                                  {{"dram", {"dram.bandwidth"}, 150e-6, 50e-6}});
    const std::string page = prediction_page(json, "the <text>");
    for (const char* part :
         {"<h1>gemm on h200-sxm</h1>", "<span class='big'>200 us</span>", "80 % between 190 us and 212 us",
          "limited by <b>tensor_core</b>", "88.0 %, 176 us", "bytes 1e+08, bytes_per_s 4e+12",
          "50 us, 25.0 %", "dram.bandwidth", "687 TFLOP/s", "dram__bytes_read.sum", "67108864",
          "memset counter", "1755 MHz, 650 W", "the &lt;text&gt;", "residuals of compute"}) {
        CAPTURE(part);
        CHECK(page.find(part) != std::string::npos);
    }
    CHECK(page.find("What if") == std::string::npos);
}

TEST_CASE("a changed prediction says what was changed, and warnings are shown") {
    ReportContext context = example_context();
    add_setting("gpu.l2.capacity", "2x", context);
    auto prediction = example_prediction();
    prediction.warnings = {"ptxas <warns>"};
    const std::string page = prediction_page(to_json(prediction, context), "");
    CHECK(page.find("<b>What if:</b> gpu.l2.capacity 2x") != std::string::npos);
    CHECK(page.find("ptxas &lt;warns&gt;") != std::string::npos);
    CHECK(page.find("What would help") == std::string::npos);
}

TEST_CASE("what is no report is refused") {
    CHECK_THROWS_AS((void)prediction_page("no JSON", ""), warptime::Error);
    CHECK_THROWS_AS((void)prediction_page("{}", ""), warptime::Error);
}
