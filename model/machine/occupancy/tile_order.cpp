// Tile order in closed form: bands inside planes; a run of items is a suffix, whole bands and a prefix.
// Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/tile_order.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <string>

namespace warptime::model::machine {

namespace {

using Count = std::int64_t;

/// Place of an item in its plane: band, the band's first row and height, and position inside the band.
struct Place {
    Count band, first, height, inside;
};

Place place(Count minor, Count major, Count group, Count offset) noexcept {
    const Count band = offset / (group * major);
    const Count first = band * group;
    return {band, first, std::min(group, minor - first), offset - first * major};
}

}  // namespace

TileOrder order_of(const kernel::Schedule& schedule) {
    return {schedule.tiles[0], schedule.tiles[1], schedule.tiles[2] * schedule.tiles[3],
            schedule.split_k,  schedule.raster,   schedule.group};
}

void check(const TileOrder& order) {
    constexpr Count most = Count{1} << 50;
    Count items = 1;
    const auto multiply = [&items](const char* name, Count value) {
        if (value < 1) {
            throw Error(std::string("schedule ") + name, std::to_string(value), "at least 1");
        }
        if (value >= most / items) {
            throw Error(std::string("schedule ") + name, std::to_string(value),
                        "fewer than 2^50 work items in all");
        }
        items *= value;
    };
    multiply("tiles m", order.m);
    multiply("tiles n", order.n);
    multiply("tiles batch", order.batch);
    multiply("split_k", order.split);
}

TileCoordinate tile_at(const TileOrder& order, std::int64_t item) noexcept {
    const Count plane = order.plane();
    const Count z = item / plane;
    const Place p = place(order.minor(), order.major(), order.band(), item - z * plane);
    const Count major = p.inside / p.height;
    const Count minor = p.first + (p.inside - major * p.height);
    const bool along_n = order.raster == Raster::along_n;
    return {along_n ? minor : major, along_n ? major : minor, z % order.batch, z / order.batch};
}

std::int64_t item_at(const TileOrder& order, const TileCoordinate& tile) noexcept {
    const bool along_n = order.raster == Raster::along_n;
    const Count minor = along_n ? tile.m : tile.n;
    const Count major = along_n ? tile.n : tile.m;
    const Count group = order.band();
    const Count first = minor / group * group;
    const Count height = std::min(group, order.minor() - first);
    const Count offset = first * order.major() + major * height + (minor - first);
    return (tile.split * order.batch + tile.batch) * order.plane() + offset;
}

TileRuns::TileRuns(const TileOrder& order) noexcept
    : minor_(static_cast<double>(order.minor())),
      major_(static_cast<double>(order.major())),
      group_(static_cast<double>(order.band())),
      plane_(minor_ * major_),
      items_(static_cast<double>(order.items())),
      batch_(static_cast<double>(order.batch)),
      band_items_(group_ * major_),
      along_n_(order.raster == Raster::along_n) {
    per_group_ = 1.0 / group_;
    full_bands_ = quotient(minor_, per_group_);
    last_height_ = minor_ - full_bands_ * group_;
    per_band_ = 1.0 / band_items_;
    per_last_ = last_height_ > 0.0 ? 1.0 / last_height_ : per_group_;
    per_plane_ = 1.0 / plane_;
    per_batch_ = 1.0 / batch_;
}

TouchedTiles TileRuns::touched(double first, double count) const noexcept {
    TouchedTiles run;
    const double begin = std::max(first, 0.0);
    const double last = std::min(items_, first + count) - 1.0;
    if (begin > last) {
        return run;
    }
    const double z0 = quotient(begin, per_plane_);
    const double z1 = quotient(last, per_plane_);
    run.planes_ = z1 - z0 + 1.0;
    if (z0 == z1) {
        run.prefix_ = between(place(begin - z0 * plane_), place(last - z0 * plane_));
        return run;
    }
    run.suffix_ = between(place(begin - z0 * plane_), place(plane_ - 1.0));
    run.prefix_ = between(place(0.0), place(last - z1 * plane_));
    run.whole_ = along_n_ ? TouchedInPlane{minor_, major_, plane_} : TouchedInPlane{major_, minor_, plane_};
    const double s0 = quotient(z0, per_batch_);
    const double s1 = quotient(z1, per_batch_);
    run.batch_ = batch_;
    run.batch_runs_ = s1 - s0 + 1.0;
    run.head_is_whole_ = z0 + 1.0 < (s0 + 1.0) * batch_;
    run.tail_is_whole_ = z1 > s1 * batch_;
    return run;
}

double TouchedTiles::distinct(Dependence dependence) const noexcept {
    if (planes_ <= 1.0) {
        return planes_ * prefix_.of(dependence);
    }
    // A suffix of a plane touches the last rows and columns, a prefix the first ones. Their union is
    // therefore their sum, up to the extent.
    const double whole = whole_.of(dependence);
    const double suffix = suffix_.of(dependence);
    const double prefix = prefix_.of(dependence);
    const double both = std::min(whole, suffix + prefix);
    const double between = planes_ - 2.0;
    const double apart = suffix + between * whole + prefix;
    if (dependence.along_batch && dependence.along_split) {
        return apart;
    }
    if (dependence.along_batch) {  // planes one split apart have the same batch coordinate
        const double full = std::min(batch_, between);
        return planes_ <= batch_ ? apart : full * whole + (full < batch_ ? both : 0.0);
    }
    if (dependence.along_split && batch_runs_ > 1.0) {  // the planes of one split have the same coordinate
        return (head_is_whole_ ? whole : suffix) + (batch_runs_ - 2.0) * whole +
               (tail_is_whole_ ? whole : prefix);
    }
    return between > 0.0 ? whole : both;
}

std::int64_t distinct(const TileOrder& order, std::int64_t first, std::int64_t count,
                      Dependence dependence) noexcept {
    return static_cast<std::int64_t>(
        TileRuns(order).touched(static_cast<double>(first), static_cast<double>(count)).distinct(dependence));
}

TileWindow window(const TileOrder& order, std::int64_t first, std::int64_t count) noexcept {
    return {distinct(order, first, count, {.along_m = true}),
            distinct(order, first, count, {.along_n = true}),
            distinct(order, first, count, {.along_batch = true}),
            distinct(order, first, count, {.along_split = true})};
}

}  // namespace warptime::model::machine
