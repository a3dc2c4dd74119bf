// L1 capacity that one CTA can use: the SM's shared memory leaves a rest, which its CTAs share equally.
// Ignores: CTAs that end before others.
// Source: CUDA C++ Programming Guide, Shared Memory (carveouts); microbench_l1_footprint (key l1.reserved).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::machine {

/// Bytes for all CTAs of an SM together.
[[nodiscard]] double l1_of_sm(const kernel::Kernel& kernel, const hw::Gpu& gpu);

/// Bytes for each CTA: of the SMs with most CTAs, and of the mean one where the kernel has local memory.
[[nodiscard]] double l1_room(const kernel::Kernel& kernel, const hw::Gpu& gpu);

}  // namespace warptime::model::machine
