// The least period of one CTA's main loop by its dependences: latency over the number of stages in flight.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item_demand.hpp"

namespace warptime::model::analytical {

/// Latency of a global load or bulk copy in a kernel whose operands come from DRAM or from L2.
template <class S>
[[nodiscard]] hw::Cycles<S> load_latency(bool from_dram, const hw::Gpu<S>& gpu) {
    return from_dram ? gpu.latency.dram : gpu.latency.l2_far;
}

/// Cycles from the issue of a stage's copies to its data standing in shared memory: latency, what copies of
/// that kind take beyond it, and the transfer through the port or, if that takes longer, the L1.
template <class S>
[[nodiscard]] hw::Cycles<S> fill_latency(const ItemDemand<S>& item, const hw::Cycles<S>& load, bool bulk,
                                         const hw::Gpu<S>& gpu);

/// Stages that the copies run ahead: the deepest token of the kernel, at least 1. In a ring of mbarriers
/// every stage may be in flight. A group of asynchronous copies is issued by the warps that multiply, after
/// they have passed the wait for the stage before: one of its stages is always being read.
[[nodiscard]] int stages_ahead(const kernel::Kernel& kernel);

/// `from_l2`: what the slices take for a trip, which lanes that copy and do not multiply wait for.
template <class S>
[[nodiscard]] hw::Cycles<S> loop_chain(const kernel::Kernel& kernel, const ItemDemand<S>& item,
                                       const hw::Cycles<S>& load, const hw::Gpu<S>& gpu,
                                       const hw::Cycles<S>& from_l2 = {});

}  // namespace warptime::model::analytical
