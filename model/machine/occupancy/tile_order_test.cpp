// Tile order against grouped program ids, a swizzle of the grid and plain enumeration.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/tile_order.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <tuple>

using namespace warptime::model::machine;

namespace {

TileOrder arbitrary_order() {
    TileOrder order;
    order.m = *rc::gen::inRange<std::int64_t>(1, 14);
    order.n = *rc::gen::inRange<std::int64_t>(1, 14);
    order.batch = *rc::gen::inRange<std::int64_t>(1, 5);
    order.split = *rc::gen::inRange<std::int64_t>(1, 5);
    order.raster = *rc::gen::element(Raster::along_m, Raster::along_n);
    order.group = *rc::gen::inRange<std::int64_t>(0, 16);
    return order;
}

}  // namespace

TEST_CASE("plain rasters") {
    const TileOrder rows{.m = 3, .n = 4};
    CHECK(tile_at(rows, 1) == TileCoordinate{0, 1, 0, 0});
    CHECK(tile_at(rows, 4) == TileCoordinate{1, 0, 0, 0});
    const TileOrder columns{.m = 3, .n = 4, .raster = Raster::along_m};
    CHECK(tile_at(columns, 1) == TileCoordinate{1, 0, 0, 0});
    CHECK(tile_at(columns, 3) == TileCoordinate{0, 1, 0, 0});
    const TileOrder deep{.m = 3, .n = 4, .batch = 2, .split = 2};
    CHECK(tile_at(deep, 12) == TileCoordinate{0, 0, 1, 0});
    CHECK(tile_at(deep, 24) == TileCoordinate{0, 0, 0, 1});
}

TEST_CASE("along_n with a group is the grouped order of program ids") {
    CHECK(rc::check("grouped", [] {
        const auto m = *rc::gen::inRange<std::int64_t>(1, 40);
        const auto n = *rc::gen::inRange<std::int64_t>(1, 40);
        const auto group = *rc::gen::inRange<std::int64_t>(1, 12);
        const auto pid = *rc::gen::inRange<std::int64_t>(0, m * n);
        const std::int64_t in_group = group * n;
        const std::int64_t first = pid / in_group * group;
        const std::int64_t size = std::min(m - first, group);
        const TileCoordinate expected{first + (pid % in_group) % size, (pid % in_group) / size, 0, 0};
        RC_ASSERT(tile_at({.m = m, .n = n, .group = group}, pid) == expected);
    }));
}

TEST_CASE("along_n with a group that divides m is a swizzle of the grid") {
    // Minor offset = id mod swizzle; in the quotient the major index is fastest.
    const std::int64_t m = 8, n = 5, swizzle = 4;
    for (std::int64_t id = 0; id < m * n; ++id) {
        const std::int64_t rest = id / swizzle;
        const TileCoordinate expected{rest / n * swizzle + id % swizzle, rest % n, 0, 0};
        CHECK(tile_at({.m = m, .n = n, .group = swizzle}, id) == expected);
    }
}

TEST_CASE("every tile once, and back again") {
    CHECK(rc::check("bijection", [] {
        const TileOrder order = arbitrary_order();
        std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen;
        for (std::int64_t item = 0; item < order.items(); ++item) {
            const TileCoordinate tile = tile_at(order, item);
            RC_ASSERT(tile.m >= 0 && tile.m < order.m && tile.n >= 0 && tile.n < order.n);
            RC_ASSERT(tile.batch >= 0 && tile.batch < order.batch);
            RC_ASSERT(tile.split >= 0 && tile.split < order.split);
            RC_ASSERT(item_at(order, tile) == item);
            seen.insert({tile.m, tile.n, tile.batch, tile.split});
        }
        RC_ASSERT(static_cast<std::int64_t>(seen.size()) == order.items());
    }));
}

TEST_CASE("distinct coordinates in closed form equal enumeration, for every dependence") {
    CHECK(rc::check("distinct", [] {
        const TileOrder order = arbitrary_order();
        const auto first = *rc::gen::inRange<std::int64_t>(0, order.items());
        const auto count = *rc::gen::inRange<std::int64_t>(0, order.items() + 3);
        for (int bits = 0; bits < 16; ++bits) {
            const Dependence dependence{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
            std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen;
            for (std::int64_t i = first; i < std::min(first + count, order.items()); ++i) {
                const TileCoordinate t = tile_at(order, i);
                seen.insert({dependence.along_m ? t.m : 0, dependence.along_n ? t.n : 0,
                             dependence.along_batch ? t.batch : 0, dependence.along_split ? t.split : 0});
            }
            RC_ASSERT(distinct(order, first, count, dependence) == static_cast<std::int64_t>(seen.size()));
        }
        const TileWindow touched = window(order, first, count);
        RC_ASSERT(touched.m == distinct(order, first, count, {.along_m = true}));
        RC_ASSERT(touched.split == distinct(order, first, count, {.along_split = true}));
    }));
}

TEST_CASE("a schedule becomes an order, and bad ones are named") {
    warptime::model::kernel::Schedule schedule;
    schedule.tiles = {3, 4, 5, 2};
    schedule.split_k = 6;
    schedule.group = 2;
    const TileOrder order = order_of(schedule);
    CHECK(order.items() == schedule.item_count());
    CHECK(order.batch == 10);
    CHECK_NOTHROW(check(order));
    TileOrder bad = order;
    bad.n = 0;
    CHECK_THROWS_WITH_AS(check(bad), "schedule tiles n: got '0', expected at least 1", warptime::Error);
    bad = {.m = std::int64_t{1} << 40, .n = std::int64_t{1} << 40};
    CHECK_THROWS_AS(check(bad), warptime::Error);
}
