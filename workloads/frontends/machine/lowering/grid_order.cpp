// Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/grid_order.hpp"

#include "workloads/frontends/machine/lowering/affine.hpp"

#include <algorithm>
#include <set>

namespace warptime::workloads::frontends::machine {

namespace {

using model::machine::TileOrder;

/// Larger groups are rare, but for all rows together.
constexpr std::int64_t most_in_group = 64;

/// Whether the bases are an affine function of the coordinates, with samples left over that could have said
/// otherwise.
bool affine(const std::vector<CtaBase>& bases, const std::optional<TileOrder>& order) {
    std::vector<AffineSample> samples;
    std::set<std::vector<std::int64_t>> places;
    for (const CtaBase& base : bases) {
        const std::array<std::int64_t, 4> at = coordinates_of(base.cta, order);
        samples.push_back({{at.begin(), at.end()}, base.address});
        places.insert(samples.back().variables);
    }
    constexpr std::size_t unknowns = 5;  // Four coefficients and the constant.
    return places.size() > unknowns && fit_affine(samples).has_value();
}

}  // namespace

std::array<std::int64_t, 4> coordinates_of(const std::array<std::int64_t, 3>& cta,
                                           const std::optional<TileOrder>& order) {
    if (!order) {
        return {cta[0], cta[1], cta[2], 0};
    }
    const model::machine::TileCoordinate tile = model::machine::tile_at(*order, cta[0]);
    return {tile.m, tile.n, cta[1], cta[2]};
}

std::optional<TileOrder> order_of_grid(std::int64_t ctas_along_x,
                                       std::span<const std::vector<CtaBase>> accesses) {
    const auto count_of = [accesses](const std::optional<TileOrder>& order) {
        return std::ranges::count_if(
            accesses, [&order](const std::vector<CtaBase>& bases) { return affine(bases, order); });
    };
    std::optional<TileOrder> best;
    auto most = count_of(std::nullopt);
    const auto all = static_cast<decltype(most)>(accesses.size());
    for (std::int64_t columns = 2; columns < ctas_along_x && most < all; ++columns) {
        if (ctas_along_x % columns != 0) {
            continue;
        }
        const std::int64_t rows = ctas_along_x / columns;
        const auto consider = [&](std::int64_t group) {
            TileOrder order;
            order.m = rows;
            order.n = columns;
            order.group = group;
            const auto affine_ones = count_of(order);
            if (affine_ones > most) {
                most = affine_ones;
                best = order;
            }
        };
        for (std::int64_t group = 1; group <= std::min(rows, most_in_group) && most < all; ++group) {
            consider(group);
        }
        if (rows > most_in_group) {
            consider(rows);
        }
    }
    return best;
}

}  // namespace warptime::workloads::frontends::machine
