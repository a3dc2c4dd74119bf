// Timelines: the format's rules, the spans of a kernel that can be counted by hand, and equal bytes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/timeline.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/small_kernels.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mk = warptime::model::kernel;
namespace examples = warptime::model::kernel::examples;
using Json = nlohmann::json;
using namespace warptime::reports;

namespace {

/// A memset, then a kernel of 140 CTAs of two warps: a producer that computes, and a consumer that waits.
mk::Program program() {
    mk::Program result;
    result.memsets.push_back({1 << 20});
    result.kernels.emplace_back();
    result.kernel_count = 1;
    result.steps = {{mk::StepKind::memset, 0}, {mk::StepKind::kernel, 0}};
    mk::Kernel& kernel = result.kernels[0];
    kernel.name = "a \"quoted\" name";
    kernel.grid = {140, 1, 1};
    kernel.cta = {64, 1, 1};
    kernel.schedule.tiles = {70, 2, 1, 1};
    mk::Builder build(kernel);
    const mk::Id full =
        build.token(examples::token("full", mk::TokenKind::mbarrier, mk::Scope::cta, 1, 1, 0));
    build.role("producer", 1);
    examples::add_op(build, examples::make_op(warptime::hw::InstructionClass::fma_f32, 1000));
    build.signal(full);
    build.role("consumer", 1);
    build.wait(full);
    examples::add_op(build, examples::make_op(warptime::hw::InstructionClass::add_f32, 10));
    build.finish();
    return result;
}

std::string text_of(const mk::Program& from) {
    ReportContext context;
    context.op = "kernel";
    context.engine = "simulation";
    std::string text;
    write_timeline(from, warptime::hw::load_gpu("h200-sxm"), context,
                   [&text](std::string_view piece) { text += piece; });
    return text;
}

std::int64_t tenths(const Json& us) {
    return std::llround(us.get<double>() * 1e4);
}

}  // namespace

TEST_CASE("spans of a track nest, tracks have names, and equal requests give equal bytes") {
    const std::string text = text_of(program());
    CHECK(text == text_of(program()));
    const Json trace = Json::parse(text);
    std::map<std::pair<int, std::int64_t>, std::vector<std::pair<std::int64_t, std::int64_t>>> tracks;
    std::map<std::pair<int, std::int64_t>, int> named;
    for (const Json& event : trace["traceEvents"]) {
        const std::pair<int, std::int64_t> track{event["pid"], event["tid"]};
        if (event["ph"] == "M") {
            named[track] += event["name"] == "thread_name" ? 1 : 0;
        } else {
            CHECK(event["ph"] == "X");
            const std::int64_t start = tenths(event["ts"]);
            tracks[track].emplace_back(start, -(start + tenths(event["dur"])));
        }
    }
    for (auto& [track, spans] : tracks) {
        CHECK(named[track] == 1);
        std::sort(spans.begin(), spans.end());
        std::vector<std::int64_t> open;
        for (const auto& [start, end] : spans) {
            while (!open.empty() && open.back() <= start) open.pop_back();
            CHECK((open.empty() || -end <= open.back()));
            open.push_back(-end);
        }
    }
}

TEST_CASE("CTAs, tiles, ops, waits and units are those of the description") {
    const Json trace = Json::parse(text_of(program()));
    std::map<std::string, int> count;
    Json kernel, memset, first_cta, wait, op;
    for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const std::string category = event["cat"];
        ++count[category];
        if (category == "kernel") kernel = event;
        if (category == "gpu_memset") memset = event;
        if (event["name"] == "CTA 3") first_cta = event;
        if (category == "wait" && event["pid"] == 4 && wait.is_null()) wait = event;
        if (event["name"] == "fma_f32" && category == "op" && event["pid"] == 4 && op.is_null()) op = event;
    }
    CHECK(count["cta"] == 140);
    CHECK(count["tile"] == 280);
    CHECK(count["op"] == 280);
    CHECK(count["wait"] == 140);
    CHECK(count["kernel"] == 1);
    CHECK(kernel["name"] == "a \"quoted\" name");
    CHECK(kernel["args"]["grid"] == Json({140, 1, 1}));
    CHECK(kernel["args"]["block"] == Json({64, 1, 1}));
    CHECK(kernel["args"].contains("registers per thread"));
    CHECK(kernel["args"].contains("shared memory"));
    CHECK(kernel["args"]["est. achieved occupancy %"].is_number());
    // Steps follow one another.
    CHECK(tenths(kernel["ts"]) == tenths(memset["ts"]) + tenths(memset["dur"]));
    // Items step along m within a row of tiles along n: CTA 3 does tile (0, 3) or (3, 0).
    CHECK(first_cta["args"]["tile"][0].get<int>() + first_cta["args"]["tile"][1].get<int>() > 0);
    CHECK(first_cta["args"]["k iterations"] == Json({0, 1}));
    // The wait ends when the producer's work has been issued, and the producer's begins with the CTA.
    CHECK(tenths(op["ts"]) == tenths(first_cta["ts"]));
    CHECK(tenths(wait["ts"]) == tenths(first_cta["ts"]));
    CHECK(tenths(wait["dur"]) >= tenths(op["dur"]));
    const Json& steps = trace["warptime"]["steps"];
    REQUIRE(steps.size() == 2);
    CHECK(steps[1]["whole"] == true);
    CHECK(steps[1]["sms_in_detail"] == 132);
    CHECK(trace["warptime"]["time_us"].get<double>() ==
          doctest::Approx(steps[0]["time_us"].get<double>() + steps[1]["time_us"].get<double>()));
}

TEST_CASE("a cut run says what was run, and its kernel lasts as long as the whole one") {
    mk::Program large = program();
    mk::Kernel& kernel = large.kernels[0];
    examples::softmax(kernel, 1 << 18, 4096);
    const Json trace = Json::parse(text_of(large));
    const Json& step = trace["warptime"]["steps"][1];
    CHECK(step["whole"] == false);
    CHECK(step["cut"]["sms_run"].get<int>() < step["cut"]["sms"].get<int>());
    CHECK(step["cut"]["ctas"] == 1 << 18);
    CHECK(step["cut"]["ctas_run"].get<int>() < 1 << 18);
    for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] == "X" && event["cat"] == "kernel") {
            CHECK(event["dur"].get<double>() == doctest::Approx(step["time_us"].get<double>()).epsilon(1e-6));
        }
    }
}
