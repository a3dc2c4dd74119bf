// The report of an occupancy: resident CTAs, the limit, and the need of one more CTA.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/occupancy_report.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace warptime::reports;
using Json = nlohmann::json;

TEST_CASE("text and JSON say the same numbers") {
    warptime::model::machine::CtaResources cta;
    cta.threads = 256;
    cta.registers_per_thread = 128;
    const OccupancyReport report = occupancy_report(cta, warptime::hw::load_gpu("h200-sxm"));
    const Json json = Json::parse(to_json(report));
    CHECK(json["schema"] == "warptime.occupancy/1");
    CHECK(json["ctas_per_sm"] == 2);
    CHECK(json["limit"] == "registers");
    CHECK(json["largest_for_one_more"]["registers"] == 80);
    const std::string text = text_of(report);
    CHECK(text.find("2 CTAs and 16 of 64 warps per SM") != std::string::npos);
    CHECK(text.find("for 3 CTAs, all of\n  registers     at most 80 instead of 128\n") != std::string::npos);
}

TEST_CASE("a changed limit is part of the answer") {
    warptime::model::machine::CtaResources cta;
    cta.threads = 256;
    const warptime::hw::Setting fewer = warptime::hw::parse_setting("gpu.sm.ctas_max=4");
    const OccupancyReport report =
        occupancy_report(cta, warptime::hw::load_gpu("h200-sxm", std::span(&fewer, 1)));
    CHECK(report.result.ctas_per_sm == 4);
    CHECK(text_of(report).find("setting     gpu.sm.ctas_max=4\n") != std::string::npos);
    CHECK(Json::parse(to_json(report))["settings"]["gpu.sm.ctas_max"] == "4");
}

TEST_CASE("a CTA that the GPU cannot have is refused") {
    warptime::model::machine::CtaResources cta;
    cta.threads = 4096;
    CHECK_THROWS_AS((void)occupancy_report(cta, warptime::hw::load_gpu("h200-sxm")), warptime::Error);
}
