// Grids that launch bands of tiles whole: CTAs of the last band that have no tile end at once, but while they
// are dealt out they have a turn at an SM like others, so that an SM may get three CTAs that work where two
// would do. Ignores: how long such a CTA keeps its place. Source: GemmIdentityThreadblockSwizzle of CUTLASS 2
// (include/cutlass/gemm/threadblock/threadblock_swizzle.h), whose grids 571 of 571 recorded kernels have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/occupancy/tile_order.hpp"

#include <cstdint>

namespace warptime::model::occupancy {

/// CTAs of a grid in which every band of the order is whole.
[[nodiscard]] std::int64_t ctas_of_whole_bands(const TileOrder& order) noexcept;

/// The item of CTA `cta` of such a grid; -1 where it has none.
[[nodiscard]] std::int64_t item_of_whole_bands(const TileOrder& order, std::int64_t cta) noexcept;

/// Whether CTA i of the kernel does not do item i, since its bands are launched whole.
[[nodiscard]] bool launches_whole_bands(const kernel::Kernel& kernel) noexcept;

/// CTAs with work on the SM that gets most of them, where a grid of whole bands is dealt out to `sms` SMs one
/// by one, each taking `resident`.
[[nodiscard]] std::int64_t fullest_sm(const TileOrder& order, std::int64_t sms,
                                      std::int64_t resident) noexcept;

}  // namespace warptime::model::occupancy
