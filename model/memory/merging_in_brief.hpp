// The law of merging_in_waves.hpp for those who ask often: which of a kernel's read requests merge, from the
// lengths of runs instead of item by item. Ignores: short last bands of a grid, and that slices have
// different numbers of readers. Source: merging_in_waves.hpp, with which its test compares it over many
// grids. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/memory/merging_in_waves.hpp"

#include <array>

namespace warptime::model::memory {

/// Consecutive items of the order that read the same slice, at least 1.
[[nodiscard]] double run_of_slice(const occupancy::TileOrder& order, occupancy::Dependence slices) noexcept;

/// `left_in_order` of readers that need not be whole, without going through the places.
[[nodiscard]] double left_in_order_in_brief(double readers, double run, double most) noexcept;

/// CTAs of a grid that no cluster keeps together, ready to be asked for any operand. Constant time, no
/// allocation. `groups` and `stay` as Readers has them; `order` must outlive this.
class MergingInBrief {
  public:
    MergingInBrief(const occupancy::TileOrder& order, const GroupRuns& runs, std::int64_t groups,
                   bool stay) noexcept;

    /// `merged_share` of an operand's readers.
    [[nodiscard]] double merged_share(occupancy::Dependence slices, const MergingLaw& law) const noexcept;

  private:
    [[nodiscard]] double readers_of_first(occupancy::Dependence slices) const noexcept;
    [[nodiscard]] double merged_later(occupancy::Dependence slices, const MergingLaw& law) const noexcept;

    const occupancy::TileOrder& order_;
    GroupRuns runs_;
    double items_, wave_;
    std::int64_t groups_;
    bool stay_;
    std::array<occupancy::TouchedTiles, 2> first_;  ///< by runs of the first wave
    std::array<double, 2> lengths_{};               ///< items of them
    occupancy::TouchedTiles second_;                ///< by the second wave
};

}  // namespace warptime::model::memory
