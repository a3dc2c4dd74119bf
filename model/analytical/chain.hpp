// The least period of one CTA's main loop by its dependences: latency over the number of stages in flight.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"

namespace warptime::model::analytical {

/// Latency of a global load or bulk copy in a kernel whose operands come from DRAM or from L2.
[[nodiscard]] inline hw::Cycles load_latency(bool from_dram, const hw::Gpu& gpu) {
    return from_dram ? gpu.latency.dram : gpu.latency.l2_far;
}

/// Cycles from the issue of a stage's copies to its data standing in shared memory: latency, what copies of
/// that kind take beyond it, and the transfer through the port or, if that takes longer, the L1.
[[nodiscard]] hw::Cycles fill_latency(const ItemDemand& item, const hw::Cycles& load, bool bulk,
                                      const hw::Gpu& gpu);

/// `from_l2`: what the slices take for a trip, which lanes that copy and do not multiply wait for.
[[nodiscard]] hw::Cycles loop_chain(const kernel::Kernel& kernel, const ItemDemand& item,
                                    const hw::Cycles& load, const hw::Gpu& gpu,
                                    const hw::Cycles& from_l2 = {});

}  // namespace warptime::model::analytical
