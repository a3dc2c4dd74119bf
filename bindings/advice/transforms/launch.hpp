// Changes of how a kernel is launched: resident CTAs, full waves, one launch for many, order of tiles.
// Ignores: what a compiler does with fewer registers (it may spill).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/occupancy/occupancy.hpp"

#include <string>

namespace warptime::advice {

[[nodiscard]] model::machine::CtaResources resources_of(const model::kernel::Kernel& kernel);
[[nodiscard]] model::machine::Occupancy residents_of(const model::kernel::Kernel& kernel, const hw::Gpu& gpu);

/// Fewer registers or less shared memory, so that `ctas` are resident. Throws Error naming the limit that no
/// such change lifts.
void reach_residents(model::kernel::Kernel& kernel, const hw::Gpu& gpu, int ctas);
/// One more CTA resident, by the fewest registers given up, or by shared memory; at most a quarter of either.
[[nodiscard]] bool raise_occupancy(model::kernel::Kernel& kernel, const hw::Gpu& gpu);

/// The grid cut down to whole waves; returns the CTAs before over the CTAs after, 1 where nothing changed.
[[nodiscard]] double whole_waves(model::kernel::Kernel& kernel, const hw::Gpu& gpu);
/// `times` problems in one launch: the grid is so much larger, and each problem has its own memory.
[[nodiscard]] bool batch(model::kernel::Kernel& kernel, std::int64_t times);
/// CTAs in bands of `group` rows of tiles, so that those at work together share rows and columns.
[[nodiscard]] bool raster(model::kernel::Kernel& kernel, std::int64_t group);

}  // namespace warptime::advice
