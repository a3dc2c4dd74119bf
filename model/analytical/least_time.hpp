// A time that no prediction of a kernel falls below, for a small part of its cost: what the tensor cores, the
// shared memory and the SM's port to the L2 take for the main loops of the SM with the most items, or what a
// CTA alone takes for its items, trip by trip, at the highest clock. A ranking passes over kernels that
// cannot be among the fastest by it. Ignores: everything else. Source: the main loop's period is at least
// what each server takes for all CTAs of the SM, and what the warps of a CTA issue, copy and wait for in turn
// (timeline.hpp, closed_queue.hpp, copying_loop.hpp, chain.hpp), and parts of a time overlap to no less than
// the longest (overlap.hpp). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::analytical {

[[nodiscard]] hw::Seconds least_time(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                     const prediction::Conditions& conditions);

}  // namespace warptime::model::analytical
