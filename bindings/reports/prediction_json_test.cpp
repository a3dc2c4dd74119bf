// The JSON contract: every key, in its order, with its unit, and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/prediction_json.hpp"

#include "bindings/reports/prediction_fixture_test.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <limits>

using namespace warptime::model::prediction;
using namespace warptime::reports;
using Json = nlohmann::ordered_json;

namespace {

std::string keys_of(const Json& object) {
    std::string keys;
    for (const auto& item : object.items()) {
        keys += item.key() + " ";
    }
    return keys;
}

}  // namespace

TEST_CASE("the keys of the contract, in order") {
    const Json json = Json::parse(to_json(example_prediction(), example_context()));
    CHECK(keys_of(json) ==
          "schema version gpu operation conditions engine time_us low_us high_us span_us status band_source "
          "class limiter bounds shares utilization achieved occupancy waves counters clock_mhz power_w "
          "fitted_constants own_constants inherited_constants kernels ");
    CHECK(keys_of(json["operation"]) == "op m n k dtype batch ");
    CHECK(keys_of(json["conditions"]) == "cache duty data available_sms clock_mhz ecc between in_turn ");
    CHECK(keys_of(json["bounds"][0]) == "name time_us inputs ");
    CHECK(keys_of(json["utilization"]) == "tensor fp32 issue shared l1 l2 dram ");
    CHECK(keys_of(json["achieved"]) == "flops_per_s dram_bytes_per_s l2_bytes_per_s ");
    CHECK(keys_of(json["occupancy"]) == "ctas_per_sm warps_per_sm limit next_limit ");
    CHECK(keys_of(json["kernels"][0]) == "kind name time_us ");
}

TEST_CASE("warnings are there where the compiler had some") {
    auto prediction = example_prediction();
    CHECK(!Json::parse(to_json(prediction, example_context())).contains("warnings"));
    prediction.warnings = {"one", "two"};
    CHECK(Json::parse(to_json(prediction, example_context()))["warnings"] == Json({"one", "two"}));
}

TEST_CASE("the values carry the units that the keys say") {
    const Json json = Json::parse(to_json(example_prediction(), example_context(), -1));
    CHECK(json["schema"] == "warptime.prediction/1");
    CHECK(json["time_us"].get<double>() == doctest::Approx(200.0));
    CHECK(json["span_us"].get<double>() == doctest::Approx(203.0));
    CHECK(json["clock_mhz"].get<double>() == doctest::Approx(1755.0));
    CHECK(json["bounds"][0]["time_us"].get<double>() == doctest::Approx(25.0));
    CHECK(json["bounds"][0]["inputs"]["bytes"] == 1e8);
    CHECK(json["operation"]["m"] == 4096);
    CHECK(json["operation"]["dtype"] == "bf16");
    CHECK(json["class"] == "compute");
    CHECK(json["limiter"] == "tensor_core");
    CHECK(json["status"] == "calibrated");
    CHECK(json["conditions"]["available_sms"].is_null());
    CHECK(json["kernels"][1]["name"] == "gemm");
    CHECK(json["fitted_constants"] == 17);
    CHECK(json["own_constants"] == 17);
    CHECK(json["inherited_constants"] == 0);
}

TEST_CASE("conditions that were given are numbers") {
    ReportContext context = example_context();
    context.conditions.available_sms = 66;
    context.conditions.clock_hz = 1.5e9;
    const Json json = Json::parse(to_json(example_prediction(), context));
    CHECK(json["conditions"]["available_sms"] == 66);
    CHECK(json["conditions"]["clock_mhz"] == 1500.0);
}

TEST_CASE("what JSON cannot hold is null or replaced, never broken text") {
    Prediction p = example_prediction();
    p.power_w = std::numeric_limits<double>::infinity();
    ReportContext context = example_context();
    context.gpu = "bad\xFF.toml";
    const Json json = Json::parse(to_json(p, context));
    CHECK(json["power_w"].is_null());
    CHECK(json["gpu"] == "bad\xEF\xBF\xBD.toml");
}

TEST_CASE("errors have the same four keys always") {
    const Json json = Json::parse(to_json(warptime::Error("gemm m", "-1", "a whole number")));
    CHECK(keys_of(json) == "error ");
    CHECK(keys_of(json["error"]) == "parameter value expected message ");
    CHECK(json["error"]["message"] == "gemm m: got '-1', expected a whole number");
}
