// Tests of the order in which a grid along x goes to its tiles, from the bases of accesses.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/grid_order.hpp"

#include "workloads/frontends/machine/lowering/affine.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using model::machine::TileOrder;
using Bases = std::vector<std::vector<CtaBase>>;

std::int64_t any_between(std::int64_t low, std::int64_t high) {
    constexpr int full_size = 100;
    return *rc::gen::resize(full_size, rc::gen::inRange<std::int64_t>(low, high + 1));
}

TileOrder order_of(std::int64_t rows, std::int64_t columns, std::int64_t group) {
    TileOrder order;
    order.m = rows;
    order.n = columns;
    order.group = group;
    return order;
}

/// The tile of a place by the definition alone: bands of `group` rows, each column by column.
std::array<std::int64_t, 2> tile_of(const TileOrder& order, std::int64_t x) {
    const std::int64_t band = x / (order.group * order.n);
    const std::int64_t inside = x % (order.group * order.n);
    const std::int64_t rows = std::min(order.group, order.m - band * order.group);
    return {band * order.group + inside % rows, inside / rows};
}

/// Bases that are constant + rows x m + columns x n + y x CTA y.
struct Affine {
    std::int64_t constant = 0, rows = 0, columns = 0, y = 0;

    [[nodiscard]] std::int64_t at(const TileOrder& order, std::int64_t x, std::int64_t cta_y) const {
        const std::array<std::int64_t, 2> tile = tile_of(order, x);
        return constant + rows * tile[0] + columns * tile[1] + y * cta_y;
    }
};

/// Steps that no product of a small number makes equal.
Affine any_affine(bool along_m, bool along_n) {
    return {any_between(-1000000, 1000000), along_m ? any_between(100000, 900000) : 0,
            along_n ? any_between(1, 300) : 0, any_between(-5000, 5000)};
}

/// Whether affine functions that fit the traced CTAs under the order give the bases of all CTAs.
bool predicts(const TileOrder& truth, const TileOrder& found, const std::vector<Affine>& functions,
              const Bases& traced) {
    for (std::size_t i = 0; i < functions.size(); ++i) {
        std::vector<AffineSample> samples;
        for (const CtaBase& base : traced[i]) {
            const auto at = coordinates_of(base.cta, found);
            samples.push_back({{at.begin(), at.end()}, base.address});
        }
        const std::optional<AffineFit> fit = fit_affine(samples);
        if (!fit) return false;
        for (std::int64_t x = 0; x < truth.m * truth.n; ++x) {
            const auto at = coordinates_of({x, 1, 0}, found);
            std::int64_t base = fit->constant;
            for (std::size_t v = 0; v < at.size(); ++v) {
                base += fit->coefficients[v] * at[v];
            }
            if (base != functions[i].at(truth, x, 1)) return false;
        }
    }
    return true;
}

/// The bases of each function in the CTAs of two rows along y, of which a share is traced.
Bases traced_of(const TileOrder& order, const std::vector<Affine>& functions, std::int64_t percent) {
    Bases accesses(functions.size());
    for (std::int64_t x = 0; x < order.m * order.n; ++x) {
        for (std::int64_t y = 0; y < 2; ++y) {
            if (any_between(1, 100) > percent) continue;
            for (std::size_t i = 0; i < functions.size(); ++i) {
                accesses[i].push_back({{x, y, 0}, functions[i].at(order, x, y)});
            }
        }
    }
    return accesses;
}

}  // namespace

TEST_CASE("coordinates are those of the tile, then y and z, and items lead back to the place") {
    CHECK(rc::check("any order", [] {
        const std::int64_t rows = any_between(1, 40);
        const TileOrder order = order_of(rows, any_between(1, 40), any_between(1, rows));
        const std::int64_t x = any_between(0, order.m * order.n - 1);
        const std::int64_t y = any_between(0, 100);
        const std::int64_t z = any_between(0, 100);
        const std::array<std::int64_t, 4> at = coordinates_of({x, y, z}, order);
        const std::array<std::int64_t, 2> tile = tile_of(order, x);
        RC_ASSERT(at == (std::array<std::int64_t, 4>{tile[0], tile[1], y, z}));
        RC_ASSERT(model::machine::item_at(order, {at[0], at[1], 0, 0}) == x);
        RC_ASSERT(coordinates_of({x, y, z}, std::nullopt) == (std::array<std::int64_t, 4>{x, y, z, 0}));
    }));
}

TEST_CASE("an order in bands is found again from bases of rows, of columns and of both") {
    CHECK(rc::check("rows, columns, group and steps", [] {
        const std::int64_t rows = any_between(3, 12);
        const std::int64_t columns = any_between(3, 12);
        const TileOrder order = order_of(rows, columns, any_between(1, rows));
        const std::vector<Affine> functions{any_affine(true, false), any_affine(false, true),
                                            any_affine(true, true)};
        const Bases traced = traced_of(order, functions, any_between(70, 100));
        const std::optional<TileOrder> found = order_of_grid(rows * columns, traced);
        RC_ASSERT(found.has_value());
        RC_ASSERT(predicts(order, *found, functions, traced));
        RC_ASSERT(found->m * found->n == rows * columns);
        RC_ASSERT(found->batch == 1);
        RC_ASSERT(found->split == 1);
        if (order.group > 1 && order.group < rows) {
            RC_ASSERT(*found == order);
        } else {
            // Row by row of one order is column by column of the other.
            const bool by_columns = order.group > 1;
            const TileOrder other =
                by_columns ? order_of(columns, rows, 1) : order_of(columns, rows, columns);
            RC_ASSERT((*found == order || *found == other));
        }
    }));
}

TEST_CASE("bands of all rows are found, however many rows there are") {
    constexpr std::int64_t rows = 100, columns = 7;
    const TileOrder order = order_of(rows, columns, rows);
    const std::vector<Affine> functions{{0, 4096, 0, 0}, {0, 0, 128, 0}};
    Bases accesses(2);
    for (std::int64_t x = 0; x < rows * columns; x += 3) {
        for (std::size_t i = 0; i < 2; ++i) {
            accesses[i].push_back({{x, 0, 0}, functions[i].at(order, x, 0)});
        }
    }
    const std::optional<TileOrder> found = order_of_grid(rows * columns, accesses);
    REQUIRE(found.has_value());
    CHECK(predicts(order, *found, functions, accesses));
}

TEST_CASE("accesses that follow no order do not hide the order of the others") {
    CHECK(rc::check("two affine ones and one that is not", [] {
        const TileOrder order = order_of(8, any_between(4, 9), any_between(2, 7));
        const std::vector<Affine> functions{any_affine(true, false), any_affine(false, true)};
        Bases traced = traced_of(order, functions, 100);
        const Bases affine = traced;
        std::mt19937 engine(static_cast<unsigned>(any_between(0, 1 << 20)));
        std::vector<CtaBase> scattered = traced[0];
        for (CtaBase& base : scattered) {
            base.address = static_cast<std::int64_t>(engine() % 1000000U);
        }
        traced.insert(traced.begin() + any_between(0, 2), scattered);
        const std::optional<TileOrder> found = order_of_grid(order.m * order.n, traced);
        RC_ASSERT(found.has_value());
        RC_ASSERT(predicts(order, *found, functions, affine));
    }));
}

TEST_CASE("a grid whose bases are affine in the CTA's own place has no order") {
    CHECK(rc::check("any steps", [] {
        const std::int64_t ctas = any_between(1, 150);
        Bases accesses(static_cast<std::size_t>(any_between(1, 3)));
        for (std::vector<CtaBase>& bases : accesses) {
            const std::int64_t step = any_between(-4096, 4096);
            const std::int64_t step_y = any_between(-4096, 4096);
            for (std::int64_t x = 0; x < ctas; ++x) {
                for (std::int64_t y = 0; y < 3; ++y) {
                    bases.push_back({{x, y, 0}, step * x + step_y * y});
                }
            }
        }
        RC_ASSERT_FALSE(order_of_grid(ctas, accesses).has_value());
    }));
}

TEST_CASE("random bases have no order, nor have those of no access or no traced CTA") {
    CHECK(rc::check("random bases", [] {
        std::mt19937 engine(static_cast<unsigned>(any_between(0, 1 << 20)));
        Bases accesses(2);
        for (std::vector<CtaBase>& bases : accesses) {
            for (std::int64_t x = 0; x < 60; ++x) {
                bases.push_back({{x, 0, 0}, static_cast<std::int64_t>(engine() % 1000000U)});
            }
        }
        RC_ASSERT_FALSE(order_of_grid(60, accesses).has_value());
    }));
    CHECK_FALSE(order_of_grid(60, {}).has_value());
    CHECK_FALSE(order_of_grid(60, Bases(3)).has_value());
}

TEST_CASE("as many CTAs as an affine function has unknowns say nothing") {
    CHECK(rc::check("up to five tiles, each seen several times", [] {
        const TileOrder order = order_of(6, 5, any_between(1, 6));
        const std::vector<Affine> functions{any_affine(true, false), any_affine(false, true)};
        std::vector<std::int64_t> places(static_cast<std::size_t>(order.m * order.n));
        for (std::size_t i = 0; i < places.size(); ++i) {
            places[i] = static_cast<std::int64_t>(i);
        }
        std::mt19937 engine(static_cast<unsigned>(any_between(0, 1 << 20)));
        std::ranges::shuffle(places, engine);
        places.resize(static_cast<std::size_t>(any_between(1, 5)));
        Bases accesses(functions.size());
        for (std::size_t i = 0; i < functions.size(); ++i) {
            for (int time = 0; time < 3; ++time) {
                for (const std::int64_t x : places) {
                    accesses[i].push_back({{x, 0, 0}, functions[i].at(order, x, 0)});
                }
            }
        }
        RC_ASSERT_FALSE(order_of_grid(order.m * order.n, accesses).has_value());
    }));
}

}  // namespace warptime::workloads::frontends::machine
