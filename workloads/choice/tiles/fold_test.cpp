// Folding loses no tile, keeps the order, and hides only differences without effect.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/fold.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;

namespace {

struct Fixture {
    warptime::hw::Gpu gpu = warptime::hw::load_gpu("h200-sxm");
    std::unique_ptr<warptime::model::prediction::Engine> engine = warptime::model::analytical::make_engine();
    Operation operation;
    std::vector<Candidate> space;

    Fixture(const char* m, const char* n, const char* k)
        : operation(make_operation("gemm", {{"m", m}, {"n", n}, {"k", k}})),
          space(space_named("triton", operation, gpu)) {}
};

}  // namespace

TEST_CASE("every tile is in one fold, and the fastest of each stands for it") {
    const Fixture f("2048", "4096", "1024");
    const Ranking ranking = rank(f.operation, f.space, *f.engine, f.gpu, {});
    const FoldedRanking folded = fold(ranking, f.space);
    CHECK(folded.ranking.dropped == ranking.dropped);
    REQUIRE(folded.alike.size() == folded.ranking.tiles.size());
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < folded.alike.size(); ++i) {
        all.push_back(folded.ranking.tiles[i].candidate);
        for (const std::size_t candidate : folded.alike[i]) {
            all.push_back(candidate);
            const auto tile = std::find_if(ranking.tiles.begin(), ranking.tiles.end(),
                                           [&](const RankedTile& t) { return t.candidate == candidate; });
            const double first = folded.ranking.tiles[i].estimate.time;
            CHECK(tile->estimate.time >= first);
            CHECK(tile->estimate.time <= first * (1.0 + same_time));
        }
    }
    std::vector<std::size_t> ranked;
    for (const RankedTile& tile : ranking.tiles) {
        ranked.push_back(tile.candidate);
    }
    std::sort(all.begin(), all.end());
    std::sort(ranked.begin(), ranked.end());
    CHECK(all == ranked);
}

TEST_CASE("one row of tiles has one order: groups are folded") {
    const Fixture f("64", "8192", "4096");
    const FoldedRanking folded = rank_folded(f.operation, f.space, *f.engine, f.gpu, {}, 10);
    REQUIRE(folded.ranking.tiles.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
        const Candidate& first = f.space[folded.ranking.tiles[i].candidate];
        if (first.config.cta_m >= 64) {
            CHECK(!folded.alike[i].empty());
        }
        for (std::size_t j = 0; j < i; ++j) {
            Candidate other = f.space[folded.ranking.tiles[j].candidate];
            other.config.group = first.config.group;
            CHECK(!(other == first &&
                    folded.ranking.tiles[i].estimate.time == folded.ranking.tiles[j].estimate.time));
        }
    }
}

TEST_CASE("the first of a few folds are the first of all") {
    const Fixture f("512", "512", "4096");
    const FoldedRanking all = rank_folded(f.operation, f.space, *f.engine, f.gpu, {});
    const FoldedRanking some = rank_folded(f.operation, f.space, *f.engine, f.gpu, {}, 7);
    REQUIRE(some.ranking.tiles.size() == 7);
    for (std::size_t i = 0; i < 7; ++i) {
        CHECK(some.ranking.tiles[i].candidate == all.ranking.tiles[i].candidate);
        CHECK(some.alike[i] == all.alike[i]);
    }
}
