// What of the L1 a CTA has for itself: what the shared memory of all CTAs of the SM leaves, in equal parts.
// Ignores: CTAs that end before others. Source: CUDA C++ Programming Guide, Shared Memory (carveouts);
// microbench_l1_footprint (keys l1.reserved and the carveouts that it was recorded at).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::occupancy {

/// Bytes.
template <class S>
[[nodiscard]] double l1_room(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu);

}  // namespace warptime::model::occupancy
