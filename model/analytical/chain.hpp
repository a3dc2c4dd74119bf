// The least period of one CTA's main loop by its dependences: latency over the number of stages in flight.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"

namespace warptime::model::analytical {

/// Latency of a global load or bulk copy, from DRAM or from the L2.
[[nodiscard]] inline hw::Cycles load_latency(bool from_dram, const hw::Gpu& gpu) {
    return from_dram ? gpu.latency.dram : gpu.latency.l2_far;
}

/// Cycles from the issue of a stage's copies until the stage lies in shared memory. The sum has three parts:
/// the load's latency, an extra for copies of that kind, and the transfer. The transfer takes the SM's port,
/// the L1 or the bulk engine, whichever is slowest.
[[nodiscard]] hw::Cycles fill_latency(const ItemDemand& item, const hw::Cycles& load, bool bulk,
                                      const hw::Gpu& gpu);

/// Least period of the main loop by its dependences. `from_l2`: time of the L2's slices for a trip. Only
/// lanes that copy without multiplying wait for the slices.
[[nodiscard]] hw::Cycles loop_chain(const kernel::Kernel& kernel, const ItemDemand& item,
                                    const hw::Cycles& load, const hw::Gpu& gpu,
                                    const hw::Cycles& from_l2 = {});

}  // namespace warptime::model::analytical
