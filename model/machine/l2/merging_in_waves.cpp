// Merged requests counted item by item, in the first wave and in later ones. Ignores and source: see the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/merging_in_waves.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warptime::model::machine {

namespace {

constexpr std::int64_t most_items = 2048;  // sampled items of later waves, which stand for all later items

double requests_of(std::int64_t readers, std::int64_t most) {
    const std::int64_t requests = (readers + most - 1) / most;
    return static_cast<double>(requests);
}

/// Tile of an item where the clusters of a line follow one another across the line, in bands. A tile order
/// has such bands the other way round, with `group` tiles along the line. That order keeps a cluster's CTAs
/// together.
TileCoordinate across(const TileOrder& order, std::int64_t line, std::int64_t item) {
    const std::int64_t band = order.group / line;
    const std::int64_t plane = item / order.plane();
    const std::int64_t cluster = item % order.plane() / line;
    const std::int64_t lines = order.minor() / line;
    const std::int64_t first = cluster / (band * lines) * band;
    const std::int64_t wide = std::min(band, order.major() - first);
    const std::int64_t inside = cluster - first * lines;
    const std::int64_t minor = inside / wide * line + item % line;
    const std::int64_t major = first + inside % wide;
    const bool along_n = order.raster == Raster::along_n;
    return {along_n ? minor : major, along_n ? major : minor, plane % order.batch, plane / order.batch};
}

TileCoordinate slice_of(const Readers& readers, std::int64_t item) {
    const std::int64_t line = readers.in_cluster;
    const bool banded = line > 1 && readers.order.group > line && readers.order.group % line == 0 &&
                        readers.order.minor() % line == 0;
    const TileCoordinate tile = banded ? across(readers.order, line, item) : tile_at(readers.order, item);
    const Dependence& by = readers.slices;
    return {by.along_m ? tile.m : 0, by.along_n ? tile.n : 0, by.along_batch ? tile.batch : 0,
            by.along_split ? tile.split : 0};
}

/// Requests left in the first wave, whose CTAs are all in step.
double left_of_first(const Readers& readers, std::int64_t wave, std::int64_t most) {
    const TileOrder& order = readers.order;
    std::vector<std::int64_t> where;  // GPC and slice of each item
    where.reserve(static_cast<std::size_t>(wave));
    const double slots = std::min(static_cast<double>(wave), readers.runs.step);
    // Whole clusters of CTAs fill one GPC after the other.
    const auto together = static_cast<double>(readers.in_cluster);
    const double length =
        readers.in_cluster > 1
            ? together * std::max(1.0, std::floor(readers.runs.step / static_cast<double>(readers.groups) /
                                                  together))
            : readers.runs.length;
    for (std::int64_t item = 0; item < wave; ++item) {
        const double slot = std::fmod(static_cast<double>(item), slots);
        const auto group = static_cast<std::int64_t>(slot / length);
        where.push_back(group * order.items() + item_at(order, slice_of(readers, item)));
    }
    std::sort(where.begin(), where.end());
    double left = 0.0;
    for (auto first = where.begin(); first != where.end();) {
        const auto next = std::upper_bound(first, where.end(), *first);
        left += requests_of(next - first, most);
        first = next;
    }
    return left;
}

/// Share of a later item's requests that merging removes.
double merged_later(const Readers& readers, std::int64_t wave, const MergingLaw& law) {
    const std::int64_t end = std::min(readers.order.items(), wave + most_items);
    double left = 0.0;
    double items = 0.0;
    for (std::int64_t first = wave; first < end;) {
        const TileCoordinate slice = slice_of(readers, first);
        std::int64_t next = first + 1;
        while (next < end && slice_of(readers, next) == slice) ++next;
        const std::int64_t together = next - first;
        left += static_cast<double>(together) *
                (law.in_place * left_in_order(together, readers.runs.length, law.most) +
                 (1.0 - law.in_place) * left_anywhere(together, readers.groups, law.most));
        items += static_cast<double>(together);
        first = next;
    }
    left /= items;
    const TileRuns tiles(readers.order);
    const double slices =
        tiles.touched(static_cast<double>(wave), static_cast<double>(wave)).distinct(readers.slices);
    const double of_slice = std::min(static_cast<double>(wave), items) / std::max(1.0, slices);
    const double all =
        left_anywhere(std::max<std::int64_t>(1, std::lround(of_slice)), readers.groups, law.most);
    return 1.0 - left + law.strangers * std::max(0.0, left - all);
}

}  // namespace

double left_in_order(std::int64_t readers, double run, std::int64_t most) {
    double requests = 0.0;
    const auto places = static_cast<std::int64_t>(std::ceil(run));
    for (std::int64_t place = 0; place < places; ++place) {
        // Readers begin at each place of the first run and continue from run to run.
        double at = static_cast<double>(place);
        for (std::int64_t left = readers; left > 0;) {
            const auto room = static_cast<std::int64_t>(std::ceil(run - std::fmod(at, run)));
            const std::int64_t here = std::min(left, std::max<std::int64_t>(1, room));
            requests += requests_of(here, most);
            left -= here;
            at += static_cast<double>(here);
        }
    }
    return requests / static_cast<double>(places * readers);
}

double left_anywhere(std::int64_t readers, std::int64_t groups, std::int64_t most) {
    const auto n = static_cast<double>(readers);
    const auto g = static_cast<double>(groups);
    if (groups <= 1) return requests_of(readers, most) / n;
    constexpr std::int64_t many = 256;
    // The last request of each GPC is half full on average.
    if (readers > many)
        return 1.0 / static_cast<double>(most) + g / n * 0.5 * (1.0 - 1.0 / static_cast<double>(most));
    double chance = std::pow(1.0 - 1.0 / g, n);  // probability that `here` readers lie on one GPC
    double requests = 0.0;
    for (std::int64_t here = 1; here <= readers; ++here) {
        chance *= static_cast<double>(readers - here + 1) / static_cast<double>(here) / (g - 1.0);
        requests += chance * requests_of(here, most);
    }
    return g * requests / n;
}

double merged_share(const Readers& readers, const MergingLaw& law) {
    const std::int64_t items = readers.order.items();
    const std::int64_t wave =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(readers.runs.wave), 1, items);
    const auto in_first = static_cast<double>(wave);
    const double first = 1.0 - left_of_first(readers, wave, law.most) / in_first;
    if (wave == items) return first;
    // Persistent CTAs stay in place, though fewer stay in step.
    const double later = readers.stay ? law.in_place * first : merged_later(readers, wave, law);
    const double share = in_first / static_cast<double>(items);
    return share * first + (1.0 - share) * later;
}

}  // namespace warptime::model::machine
