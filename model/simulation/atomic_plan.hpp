// What one execution of an atomic access to global memory by one warp asks of its SM's port and of the L2.
// Ignores: which slice and which sector it goes to: all slices that the addresses under way reach are one
// server of their summed rate. Source: model/memory/atomics.hpp, as in the analytical engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::simulation {

struct AtomicPlan {
    double sent_bytes = 0.0;  ///< by the SM, addresses and operands
    double changed_bytes = 0.0;
    double passed_bytes = 0.0;  ///< sectors of its passes
    double returned_bytes = 0.0;
    double slices = 0.0;   ///< cycles of the slices that the addresses reach
    double returns = 0.0;  ///< cycles of the way back of all SMs
    double latency = 0.0;  ///< beyond that of a load, of the last instruction
};

[[nodiscard]] AtomicPlan atomic_plan(const kernel::Kernel& kernel, const kernel::Role& role,
                                     const kernel::Op& op, const kernel::Access& access,
                                     const hw::Gpu<double>& gpu);

}  // namespace warptime::model::simulation
