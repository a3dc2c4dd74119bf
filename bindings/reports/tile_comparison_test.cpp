// The reports of two tiles give both times, the differences, and the reason for a refusal.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/tile_comparison.hpp"

#include "workloads/choice/tiles/explained_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

using namespace warptime::reports;
using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;
using fixture::Explained;
using Json = nlohmann::json;

TEST_CASE("the text has both times, the JSON the same numbers") {
    Explained explained;
    const ExplainedTile a =
        explained(Parameters{{"cta_tile", "128x256x64"}, {"stages", "3"}, {"warps", "8"}});
    const ExplainedTile b = explained(Parameters{{"cta_tile", "64x64x32"}, {"stages", "2"}, {"warps", "4"}});
    const std::string text = comparison_text(a, b);
    CHECK(text.find("first       128x256x64 ") == 0);
    CHECK(text.find("second      64x64x32 ") != std::string::npos);
    CHECK(text.find(fmt::format("{:>12.2f}{:>12.2f}", a.prediction->time * 1e6, b.prediction->time * 1e6)) !=
          std::string::npos);
    const Json json = Json::parse(comparison_json(a, b));
    CHECK(json["schema"] == "warptime.tile_comparison/1");
    double second = 0.0;
    for (const Json& share : json["shares"]) second += share["us"][1].get<double>();
    CHECK(second == doctest::Approx(json["tiles"][1]["time_us"].get<double>()));
    CHECK(json["tiles"][0]["parameters"]["cta_tile"] == "128x256x64");
    const ExplainedTile others[] = {b};
    const std::string why = why_first_text(a, others);
    CHECK(why.find(fmt::format("   2  {:+.2f}: ", (b.prediction->time - a.prediction->time) * 1e6)) !=
          std::string::npos);
}

TEST_CASE("a tile beside itself has nothing more") {
    Explained explained;
    const Parameters tile{{"BLOCK_M", "128"}, {"BLOCK_N", "128"}, {"BLOCK_K", "64"}, {"num_warps", "8"}};
    const ExplainedTile same = explained(tile);
    const ExplainedTile others[] = {same};
    CHECK(why_first_text(same, others).find("   2  +0.00: nothing") != std::string::npos);
}

TEST_CASE("a tile that cannot run is named with the reason") {
    Explained explained;
    const ExplainedTile good = explained(Parameters{{"cta_tile", "128x128x64"}, {"stages", "3"}});
    const ExplainedTile large = explained(Parameters{{"cta_tile", "256x256x128"}, {"stages", "5"}});
    CHECK(comparison_text(good, large).find("256x256x128") == 0);
    CHECK(comparison_text(good, large).find("cannot run: gemm cta_tile") != std::string::npos);
    const Json json = Json::parse(comparison_json(good, large));
    CHECK(json["tiles"][1]["error"]["parameter"] == "gemm cta_tile");
    CHECK(json["shares"].empty());
}
