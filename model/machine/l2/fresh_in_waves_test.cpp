// Items that read a slice first, against a walk through the grid wave by wave.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/fresh_in_waves.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace warptime::model;

namespace {

/// Share of the items behind the first wave whose row or column no earlier wave has read.
double counted(const machine::TileOrder& order, std::int64_t wave) {
    std::set<std::int64_t> rows, columns;
    std::int64_t fresh = 0;
    for (std::int64_t first = 0; first < order.items(); first += wave) {
        const std::int64_t end = std::min(order.items(), first + wave);
        for (std::int64_t item = first; item < end; ++item) {
            const auto tile = machine::tile_at(order, item);
            fresh += first > 0 && (!rows.contains(tile.m) || !columns.contains(tile.n)) ? 1 : 0;
        }
        for (std::int64_t item = first; item < end; ++item) {
            const auto tile = machine::tile_at(order, item);
            rows.insert(tile.m);
            columns.insert(tile.n);
        }
    }
    return static_cast<double>(fresh) / static_cast<double>(order.items() - wave);
}

}  // namespace

TEST_CASE("2304 x 2304 in tiles of 128 x 64 by 132 CTAs reads anew in three and a half of five waves") {
    machine::TileOrder order;
    order.m = 18;
    order.n = 36;
    order.group = 8;
    const double fresh = machine::fresh_behind_first_wave(order, 132);
    CHECK(fresh == doctest::Approx(counted(order, 132)).epsilon(0.02));
    CHECK((1.0 + 4.0 * fresh) / 5.0 == doctest::Approx(0.7).epsilon(0.05));
    CHECK(machine::fresh_behind_first_wave(order, 18 * 36) == 0.0);
}

TEST_CASE("the closed form is the count, but for a column that a wave shares with the next") {
    CHECK(rc::check("random grids", [] {
        machine::TileOrder order;
        order.m = *rc::gen::inRange(4, 40);
        order.n = *rc::gen::inRange(8, 40);
        order.group = *rc::gen::inRange(1, 10);
        const std::int64_t wave =
            *rc::gen::inRange<std::int64_t>(16, std::min<std::int64_t>(300, order.items()));
        const auto waves = order.items() / wave + 1;
        const auto most = static_cast<double>(order.band() * waves);
        RC_ASSERT(std::abs(machine::fresh_behind_first_wave(order, wave) - counted(order, wave)) <=
                  most / static_cast<double>(order.items() - wave) + 1e-12);
    }));
}
