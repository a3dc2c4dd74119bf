// Two tiles side by side: the differences add up, and a refused tile gives its reason.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/comparison.hpp"

#include "workloads/choice/tiles/explained_fixture_test.hpp"
#include "workloads/choice/tiles/rank.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;
using fixture::Explained;

namespace {

double sum(const std::vector<Difference>& differences, double Difference::*side) {
    double total = 0.0;
    for (const Difference& d : differences) total += d.*side;
    return total;
}

}  // namespace

TEST_CASE("shares add up to both times, whatever the tiles") {
    Explained explained;
    const auto space = space_named("triton", explained.operation, explained.gpu);
    const Ranking ranking = rank(explained.operation, space, *explained.engine, explained.gpu, {});
    const ExplainedTile first = explained(space[ranking.tiles.front().candidate]);
    REQUIRE(first.prediction);
    CHECK(first.prediction->time == ranking.tiles.front().estimate.time);
    for (std::size_t i = 1; i < ranking.tiles.size(); i += 97) {
        const ExplainedTile other = explained(space[ranking.tiles[i].candidate]);
        REQUIRE(other.prediction);
        const auto shares = share_differences(*first.prediction, *other.prediction);
        CHECK(sum(shares, &Difference::first) == doctest::Approx(first.prediction->time).epsilon(1e-9));
        CHECK(sum(shares, &Difference::second) == doctest::Approx(other.prediction->time).epsilon(1e-9));
        for (std::size_t k = 1; k < shares.size(); ++k) {
            CHECK(std::abs(shares[k - 1].more()) >= std::abs(shares[k].more()));
        }
        const auto bounds = bound_differences(*first.prediction, *other.prediction);
        CHECK(bounds.size() >= other.prediction->bounds.size());
        CHECK(bounds.front().second == bounds.at(0).second);
    }
}

TEST_CASE("a tile and itself do not differ") {
    Explained explained;
    const Parameters tile{{"BLOCK_M", "128"}, {"BLOCK_N", "128"}, {"BLOCK_K", "64"}, {"num_warps", "8"}};
    const ExplainedTile same = explained(tile);
    for (const Difference& d : share_differences(*same.prediction, *same.prediction)) {
        CHECK(d.more() == 0.0);
    }
}

TEST_CASE("a tile that cannot run says why, as the ranking does") {
    Explained explained;
    const ExplainedTile good = explained(Parameters{{"cta_tile", "128x128x64"}, {"stages", "3"}});
    const ExplainedTile large = explained(Parameters{{"cta_tile", "256x256x128"}, {"stages", "5"}});
    const ExplainedTile spills = explained(Parameters{
        {"cta_tile", "256x256x32"}, {"stages", "2"}, {"warps", "4"}, {"implementation", "triton"}});
    REQUIRE(large.refusal);
    CHECK_FALSE(large.prediction);
    CHECK(large.refusal->parameter() == "gemm cta_tile");
    REQUIRE(spills.refusal);
    CHECK(spills.refusal->parameter() == "gemm registers");
}
