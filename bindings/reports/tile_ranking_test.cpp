// The reports name every tile as predict takes it, and count the dropped tiles.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/tile_ranking.hpp"

#include "bindings/reports/context.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace warptime::reports;
using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;
using Json = nlohmann::json;

namespace {

struct Ranked {
    warptime::hw::Gpu gpu = warptime::hw::load_gpu("h200-sxm");
    Operation operation = make_operation("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}});
    std::vector<Candidate> space = space_named("triton", operation, gpu);
    Ranking ranking;
    RankingContext context;

    Ranked() {
        const auto engine = warptime::model::analytical::make_engine();
        ranking = rank(operation, space, *engine, gpu, {});
        context = {operation, "triton", make_report_context(operation, gpu, {}, engine->name()),
                   LibraryKernel{space.front(), 1.5e-4}};
    }
};

}  // namespace

TEST_CASE("folded tiles are counted in the text and listed in JSON") {
    Ranked r;
    r.context.alike = {{3, 4}, {}};
    const Json json = Json::parse(ranking_json(r.ranking, r.space, r.context, r.gpu, 3));
    CHECK(json["tiles"][0]["alike"].size() == 2);
    CHECK(json["tiles"][1]["alike"].empty());
    CHECK(json["tiles"][2]["alike"].empty());
    const std::string text = ranking_text(r.ranking, r.space, r.context, r.gpu, 3);
    CHECK(text.find(", and 2 alike\n") != std::string::npos);
}

TEST_CASE("JSON: what was asked, the tiles, the dropped") {
    const Ranked r;
    const Json json = Json::parse(ranking_json(r.ranking, r.space, r.context, r.gpu, 7));
    CHECK(json["schema"] == "warptime.tiles/1");
    CHECK(json["operation"]["m"] == 4096);
    CHECK(!json["operation"].contains("stages"));
    CHECK(json["candidates"] == r.space.size());
    CHECK(json["library_time_us"] == doctest::Approx(150.0));
    CHECK(json["library"]["time_us"] == json["library_time_us"]);
    CHECK(json["library"]["parameters"].contains("cta_tile"));
    REQUIRE(json["tiles"].size() == 7);
    for (const Json& tile : json["tiles"]) {
        CHECK(tile["low_us"] < tile["time_us"]);
        CHECK(tile["time_us"] < tile["high_us"]);
        Parameters parameters;
        for (const auto& [name, value] : tile["parameters"].items()) {
            parameters[name] = value.is_string() ? value.get<std::string>() : value.dump();
        }
        const std::size_t rank = tile["rank"].get<std::size_t>() - 1;
        CHECK(candidate_of(r.operation, parameters) == r.space[r.ranking.tiles[rank].candidate]);
    }
    CHECK(json["dropped"].size() == r.ranking.dropped.size());
    for (const Json& dropped : json["dropped"]) {
        CHECK(!dropped["expected"].get<std::string>().empty());
    }
}

TEST_CASE("text: a line a tile, the reasons with their numbers, the way on") {
    const Ranked r;
    const std::string text = ranking_text(r.ranking, r.space, r.context, r.gpu, 3);
    CHECK(text.find("gemm m=4096 n=4096 k=4096") == 0);
    CHECK(text.find("on h200-sxm: 3 of 1200 tiles of triton\n") != std::string::npos);
    CHECK(text.find("\n   3  ") != std::string::npos);
    CHECK(text.find("\n   4  ") == std::string::npos);
    CHECK(text.find("library     150.00 us") != std::string::npos);
    CHECK(text.find("dropped     " + std::to_string(r.ranking.dropped.size()) + " of 1200") !=
          std::string::npos);
    const Candidate& best = r.space[r.ranking.tiles.front().candidate];
    CHECK(text.find("--cta-tile " + parameters_of(best)["cta_tile"]) != std::string::npos);
    CHECK(short_name(best).find(parameters_of(best)["cta_tile"] + " ") == 0);
}
