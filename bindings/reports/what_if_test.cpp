// Every answer lists its settings, and an answer with settings is a what-if.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/what_if.hpp"

#include "bindings/reports/prediction_fixture_test.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/prediction_text.hpp"
#include "hw/sheet.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace hw = warptime::hw;
using namespace warptime::reports;
using Json = nlohmann::ordered_json;

TEST_CASE("text and JSON list what was changed, and the status says so") {
    const std::vector<hw::Setting> settings{
        hw::parse_setting("gpu.l2.capacity=2x"), hw::parse_setting("kernel.stages=4"),
        hw::parse_setting("gpu.sm.count=66"), hw::parse_setting("gpu.l2.capacity=+10%")};
    const auto operation = warptime::workloads::make_operation("gemm", {{"m", "1"}, {"n", "2"}, {"k", "3"}});
    const auto gpu = hw::load_gpu("h200-sxm", settings);
    ReportContext context = make_report_context(operation, gpu, {}, "analytical");
    add_kernel_settings(settings, context);
    auto prediction = example_prediction();
    mark_what_if(context, prediction);

    const Json json = Json::parse(to_json(prediction, context));
    CHECK(json["status"] == "what-if");
    CHECK(json["settings"] ==
          Json{{"gpu.l2.capacity", "2x, then +10%"}, {"gpu.sm.count", "66"}, {"kernel.stages", "4"}});
    CHECK(json["band_source"] == "residuals of compute, before the change");
    const std::string text = short_text(prediction, context);
    CHECK(text.find("settings    gpu.l2.capacity=2x, then +10%\n            gpu.sm.count=66\n") !=
          std::string::npos);
    CHECK(text.find("status      what-if") != std::string::npos);
    CHECK(Json::parse(request_json(context))["settings"].size() == 3);
}

TEST_CASE("without settings nothing is said of them") {
    auto prediction = example_prediction();
    mark_what_if(example_context(), prediction);
    CHECK(prediction.status == warptime::model::prediction::Status::calibrated);
    CHECK_FALSE(Json::parse(to_json(prediction, example_context())).contains("settings"));
    CHECK(short_text(prediction, example_context()).find("settings") == std::string::npos);
}
