// Share of a kernel's read requests that merge, from lengths of runs instead of item by item: the fast form
// of merging_in_waves.hpp.
// Ignores: short last bands of a grid, and slices with different numbers of readers.
// Source: merging_in_waves.hpp; the test compares both over many grids.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/l2/merging_in_waves.hpp"

#include <array>

namespace warptime::model::machine {

/// Consecutive items of the order that read the same slice, at least 1.
[[nodiscard]] double run_of_slice(const TileOrder& order, Dependence slices) noexcept;

/// Closed form of `left_in_order` for a real number of readers.
[[nodiscard]] double left_in_order_in_brief(double readers, double run, double most) noexcept;

/// Merging of a grid whose CTAs no cluster keeps together, for any operand. Constant time, no allocation.
/// `groups` and `stay` as in Readers; `order` must outlive this object.
class MergingInBrief {
  public:
    MergingInBrief(const TileOrder& order, const GroupRuns& runs, std::int64_t groups, bool stay) noexcept;

    /// Closed form of `merged_share` for one operand.
    [[nodiscard]] double merged_share(Dependence slices, const MergingLaw& law) const noexcept;

  private:
    [[nodiscard]] double readers_of_first(Dependence slices) const noexcept;
    [[nodiscard]] double merged_later(Dependence slices, const MergingLaw& law) const noexcept;

    const TileOrder& order_;
    GroupRuns runs_;
    double items_, wave_;
    std::int64_t groups_;
    bool stay_;
    std::array<TouchedTiles, 2> first_;  ///< tiles that two sampled GPCs touch in the first wave
    std::array<double, 2> lengths_{};    ///< items of each sampled run
    TouchedTiles second_;                ///< tiles that the second wave touches
};

}  // namespace warptime::model::machine
