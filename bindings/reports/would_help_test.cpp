// Twice the speed of a resource saves as much as a prediction on such a GPU.
// The most helpful resource comes first.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/would_help.hpp"

#include "hw/key_rule.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/system/program.hpp"
#include "workloads/predict.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace warptime::reports;
using Json = nlohmann::json;
namespace hw = warptime::hw;
namespace workloads = warptime::workloads;

namespace {

struct Asked {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    std::unique_ptr<warptime::model::prediction::Engine> engine = warptime::model::analytical::make_engine();
    workloads::Predictor predictor{*engine, gpu};
    double time = 0.0;

    std::vector<WouldHelp> operator()(const workloads::Operation& operation) {
        time = predictor.explain(operation, {}).time;
        return twice_as_fast(predictor.program(), *engine, gpu, {}, time);
    }
};

}  // namespace

TEST_CASE("a long copy wants DRAM, and twice of it nearly halves the time") {
    Asked asked;
    const auto copy = workloads::make_operation("add", {{"n", "268435456"}});
    const std::vector<WouldHelp> helpful = asked(copy);
    REQUIRE_FALSE(helpful.empty());
    CHECK(helpful.front().resource == "dram");
    CHECK(helpful.front().keys == std::vector<std::string>{"dram.bandwidth"});
    const hw::Setting twice = hw::parse_setting("gpu.dram.bandwidth=2x");
    const auto faster = hw::load_gpu("h200-sxm", std::span(&twice, 1));
    CHECK(helpful.front().time == workloads::Predictor(*asked.engine, faster).evaluate(copy, {}).time);
    CHECK(helpful.front().saved == asked.time - helpful.front().time);
}

TEST_CASE("a large product wants its tensor cores; the most helpful comes first") {
    Asked asked;
    const std::vector<WouldHelp> helpful =
        asked(workloads::make_operation("gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}}));
    REQUIRE_FALSE(helpful.empty());
    CHECK(helpful.front().resource == "tensor_core");
    CHECK(std::is_sorted(helpful.begin(), helpful.end(),
                         [](const WouldHelp& a, const WouldHelp& b) { return a.saved > b.saved; }));
    CHECK(helpful.back().saved >= 1e-3 * asked.time);

    const std::string text = would_help_text(helpful, asked.time);
    CHECK(text.find("next        twice the speed of tensor_core would save ") != std::string::npos);
    CHECK(text.back() == '\n');
    const Json json = Json::parse(with_would_help_json("{}", helpful));
    CHECK(json["would_help"][0]["resource"] == "tensor_core");
    CHECK(json["would_help"][0]["saved_us"].get<double>() == doctest::Approx(helpful.front().saved * 1e6));
}

TEST_CASE("a resource has all of its keys but the rates that the GPU lacks") {
    Asked asked;
    const std::vector<WouldHelp> helpful =
        asked(workloads::make_operation("gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}}));
    for (const WouldHelp& resource : helpful) {
        CAPTURE(resource.resource);
        std::vector<std::string> keys;
        for (std::size_t key = 0; key < hw::key_count; ++key) {
            const bool lacks =
                hw::rule_of(key).better == hw::Better::more && hw::key_value(asked.gpu, key) == 0.0;
            if (hw::rule_of(key).resource == resource.resource && !lacks)
                keys.emplace_back(hw::key_info[key].name);
        }
        CHECK(resource.keys == keys);
    }
    // The tensor cores of this GPU multiply bf16, and no 4-bit numbers.
    REQUIRE_FALSE(helpful.empty());
    const std::vector<std::string>& rates = helpful.front().keys;
    CHECK(std::ranges::count(rates, "tensor.bf16") == 1);
    CHECK(std::ranges::count_if(
              rates, [](const std::string& key) { return key.find("fp4") != std::string::npos; }) == 0);
}

TEST_CASE("nothing helps where nothing is slow") {
    CHECK(would_help_text({}, 1.0).find("none would save") != std::string::npos);
    CHECK(Json::parse(with_would_help_json("{}", {}))["would_help"].empty());
}
