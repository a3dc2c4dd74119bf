// Grids that launch bands of tiles whole: CTAs of the last band without a tile end at once.
// Such CTAs still take a turn at an SM when CTAs are dealt out. As a result an SM may get three working CTAs
// where two would do.
// Ignores: how long such a CTA keeps its place.
// Source: the public swizzle of thread blocks that docs/mechanisms/evidence.md names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <cstdint>

namespace warptime::model::machine {

/// CTAs of a grid in which every band of the order is whole.
[[nodiscard]] std::int64_t ctas_of_whole_bands(const TileOrder& order) noexcept;

/// Item of CTA `cta` of such a grid; -1 where the CTA has none.
[[nodiscard]] std::int64_t item_of_whole_bands(const TileOrder& order, std::int64_t cta) noexcept;

/// True if CTA i of the kernel does not run item i, since its bands are launched whole.
[[nodiscard]] bool launches_whole_bands(const kernel::Kernel& kernel) noexcept;

/// Most working CTAs on any SM. A grid of whole bands is dealt to `sms` SMs one by one, each taking
/// `resident`.
[[nodiscard]] std::int64_t fullest_sm(const TileOrder& order, std::int64_t sms,
                                      std::int64_t resident) noexcept;

}  // namespace warptime::model::machine
