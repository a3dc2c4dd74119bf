// A lower bound of a kernel's predicted time, at a small part of the prediction's cost.
// A ranking uses the bound to skip kernels that cannot be among the fastest. The bound is the larger of two
// times at the highest clock. One is the main loops' time on the SM with the most items: tensor cores, shared
// memory, and the SM's port to the L2. The other is the time of a CTA alone for its items, trip by trip.
// Ignores: everything else.
// Source: three facts. The main loop's period is at least each server's time for all CTAs of the SM. The
// period is also at least the time in which a CTA's warps issue, copy and wait in turn. See timeline.hpp,
// closed_queue.hpp, copying_loop.hpp and chain.hpp. Parts of a time overlap to no less than the longest part
// (overlap.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::analytical {

[[nodiscard]] hw::Seconds least_time(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                     const prediction::Conditions& conditions);

}  // namespace warptime::model::analytical
