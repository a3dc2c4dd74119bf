// Order in which work items visit the tiles of a grid, and the tiles that a run of items touches.
// Ignores: clusters (an item is then a cluster and the grid counts clusters) and listed schedules.
// kernel::Schedule fixes the meaning.
// Source: the public tile orders that docs/mechanisms/evidence.md names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::machine {

using kernel::Raster;

struct TileCoordinate {
    std::int64_t m = 0, n = 0, batch = 0, split = 0;
    friend bool operator==(const TileCoordinate&, const TileCoordinate&) = default;
};

/// Item i -> tile. The m x n tiles of one batch element and one split make a plane; the planes follow one
/// another, batch faster than split. Inside a plane, with raster along_n:
///   - `group` rows of m-tiles form a band (the last band may have fewer rows);
///   - inside a band consecutive items step along m, then n advances; the bands follow one another along m.
/// group <= 1 is the plain raster: n fastest, then m. group >= m: m fastest, then n.
/// Raster along_m is the same with m and n exchanged: `group` columns of n-tiles form a band.
/// All counts at least 1; their product is below 2^50.
struct TileOrder {
    std::int64_t m = 1, n = 1, batch = 1, split = 1;
    Raster raster = Raster::along_n;
    std::int64_t group = 1;
    friend bool operator==(const TileOrder&, const TileOrder&) = default;

    [[nodiscard]] std::int64_t plane() const { return m * n; }
    [[nodiscard]] std::int64_t planes() const { return batch * split; }
    [[nodiscard]] std::int64_t items() const { return m * n * batch * split; }
    /// Extent of the dimension that bands cut (minor), and of the one along a band (major).
    [[nodiscard]] std::int64_t minor() const { return raster == Raster::along_n ? m : n; }
    [[nodiscard]] std::int64_t major() const { return raster == Raster::along_n ? n : m; }
    /// Rows of a full band, 1 to minor().
    [[nodiscard]] std::int64_t band() const { return group <= 1 ? 1 : (group < minor() ? group : minor()); }
};

/// Order of a schedule that is not listed; its spare tile dimension counts as batch.
[[nodiscard]] TileOrder order_of(const kernel::Schedule& schedule);

/// Throws Error naming the field if a count is below 1 or there are 2^50 items or more.
void check(const TileOrder& order);

/// Tile of an item; 0 <= item < order.items().
[[nodiscard]] TileCoordinate tile_at(const TileOrder& order, std::int64_t item) noexcept;

/// Inverse of tile_at.
[[nodiscard]] std::int64_t item_at(const TileOrder& order, const TileCoordinate& tile) noexcept;

/// Coordinates on which something depends, for example the slice of an operand that a tile reads.
struct Dependence {
    bool along_m = false, along_n = false, along_batch = false, along_split = false;
};

/// Distinct coordinates that a run of items inside one plane touches.
struct TouchedInPlane {
    double m = 0.0, n = 0.0, tiles = 0.0;
    [[nodiscard]] double of(Dependence dependence) const noexcept {
        return dependence.along_m ? (dependence.along_n ? tiles : m) : (dependence.along_n ? n : 1.0);
    }
};

/// Tiles that a run of items touches, ready to count for any dependence. A run over several planes is a
/// suffix of the first plane, whole planes, and a prefix of the last.
class TouchedTiles {
  public:
    /// Number of distinct values in the run of the coordinates named by `dependence`, taken together.
    [[nodiscard]] double distinct(Dependence dependence) const noexcept;

  private:
    friend class TileRuns;
    TouchedInPlane suffix_, prefix_, whole_;
    double planes_ = 0.0;         ///< planes that the run touches; 0: an empty run
    double batch_ = 1.0;          ///< batch coordinates of the order
    double batch_runs_ = 1.0;     ///< split coordinates that the run touches
    bool head_is_whole_ = false;  ///< the first split coordinate holds more than the first plane
    bool tail_is_whole_ = false;
};

/// Runs of an order with prepared divisions, for callers that ask often. Exact below 2^50 items.
class TileRuns {
  public:
    /// Place of an item in its plane: band, rows of that band, item and column inside it.
    struct Place {
        double item, band, height, inside, column;
    };

    explicit TileRuns(const TileOrder& order) noexcept;

    /// Items [first, first + count), clipped to the grid. Constant time.
    [[nodiscard]] TouchedTiles touched(double first, double count) const noexcept;

    /// Plane of an item, and place of item `offset` of a plane.
    [[nodiscard]] double plane_of(double item) const noexcept { return quotient(item, per_plane_); }
    [[nodiscard]] Place place(double offset) const noexcept {
        const double band = quotient(offset, per_band_);
        const bool full = band < full_bands_;
        const double inside = offset - band * band_items_;
        return {offset, band, full ? group_ : last_height_, inside,
                quotient(inside, full ? per_group_ : per_last_)};
    }

    /// Items from a to b, both included, of one plane.
    [[nodiscard]] TouchedInPlane between(const Place& a, const Place& b) const noexcept {
        const double tiles = b.item - a.item + 1.0;
        // In one band a run wraps around its rows. Otherwise the first band runs to its last column, full
        // bands follow, and the last band starts at column 0.
        const double bands = b.band - a.band - 1.0;
        const double head = smaller(a.height, a.height * major_ - a.inside);
        const double tail = smaller(b.height, b.inside + 1.0);
        const double two_ends = smaller(major_, major_ - a.column + b.column + 1.0);
        const double rows = bands < 0.0 ? smaller(a.height, tiles) : head + bands * group_ + tail;
        const double columns = bands < 0.0 ? b.column - a.column + 1.0 : (bands > 0.0 ? major_ : two_ends);
        return {along_n_ ? rows : columns, along_n_ ? columns : rows, tiles};
    }

    [[nodiscard]] double plane_items() const noexcept { return plane_; }

  private:
    /// Whole quotient of whole numbers by a prepared reciprocal. The half keeps rounding away from the next
    /// whole number. The true quotient is at least 0.5 / divisor from it, more than the error for x < 2^50.
    [[nodiscard]] static double quotient(double x, double reciprocal) noexcept {
        return static_cast<double>(static_cast<std::int64_t>((x + 0.5) * reciprocal));
    }
    [[nodiscard]] static double smaller(double a, double b) noexcept { return b < a ? b : a; }

    double minor_, major_, group_, plane_, items_, batch_, band_items_;
    double full_bands_, last_height_;  ///< number of full bands; rows of the last band if it is short
    double per_band_, per_group_, per_last_, per_plane_, per_batch_;  ///< reciprocals
    bool along_n_;
};

/// Number of distinct values that the coordinates named by `dependence`, taken together, have among the items
/// [first, first + count). The range is clipped to the grid. Closed form, constant time, exact.
[[nodiscard]] std::int64_t distinct(const TileOrder& order, std::int64_t first, std::int64_t count,
                                    Dependence dependence) noexcept;

/// Distinct values of each coordinate by itself.
struct TileWindow {
    std::int64_t m = 0, n = 0, batch = 0, split = 0;
    friend bool operator==(const TileWindow&, const TileWindow&) = default;
};
[[nodiscard]] TileWindow window(const TileOrder& order, std::int64_t first, std::int64_t count) noexcept;

}  // namespace warptime::model::machine
