// Work of one warp's atomic access to global memory, at its SM's port and in the L2.
// Ignores: the access's slice and sector; the slices that addresses under way reach are one server of their
// summed rate, and the one that is asked most is another.
// Source: model/machine/atomics/atomics.hpp, as in the analytical engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/buffer_traffic.hpp"

namespace warptime::model::simulation {

struct AtomicPlan {
    double sent_bytes = 0.0;     ///< by the SM, addresses and operands
    double payload_bytes = 0.0;  ///< operands alone
    double changed_bytes = 0.0;
    double passed_bytes = 0.0;  ///< sectors of its passes
    double returned_bytes = 0.0;
    double fullest = 0.0;  ///< cycles of the slice that is asked most, beside others that are asked evenly
    double slices = 0.0;   ///< cycles of the slices that the addresses reach
    double returns = 0.0;  ///< cycles of the return path of all SMs
    bool waits = false;    ///< an answer comes back
    double latency = 0.0;  ///< of the last instruction, beyond a load's latency
};

/// `window`: places of all atomics on the buffer that are under way at a time.
[[nodiscard]] AtomicPlan atomic_plan(const kernel::Kernel& kernel, const kernel::Op& op,
                                     const kernel::Access& access, const machine::Window& window,
                                     const hw::Gpu& gpu);

}  // namespace warptime::model::simulation
