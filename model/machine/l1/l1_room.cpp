// Room of one CTA in the L1. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1_room.hpp"

#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::machine {

namespace {

bool keeps_local(const kernel::Kernel& kernel) {
    return std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                       [](const auto& buffer) { return buffer.space == kernel::Space::local; });
}

}  // namespace

double l1_of_sm(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const SmLimits limits = limits_of(gpu);
    const Occupancy resident = residency(kernel, limits);
    // The carveout holds what all resident CTAs need, or what the kernel prefers. It never falls below the
    // reserved shared memory of the most CTAs that an SM can hold. Kernels with local memory instead get all
    // L1 that their own shared memory leaves.
    std::int64_t needed =
        kernel.carveout >= 0 ? resident.shared_per_sm : resident.shared_per_cta * resident.ctas_per_sm;
    if (kernel.carveout >= 0 || !keeps_local(kernel))
        needed = std::max(needed, limits.shared_reserved * limits.ctas);
    std::int64_t shared = 0;
    for (std::size_t i = limits.carveout_count; i-- > 0;) {
        if (limits.carveouts[i] >= needed) shared = limits.carveouts[i];
    }
    return gpu.l1.capacity.value() - gpu.l1.reserved.value() - static_cast<double>(shared);
}

double l1_room(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const double most = std::max(1, residency(kernel, limits_of(gpu)).ctas_per_sm);
    const double mean = static_cast<double>(kernel.grid.volume()) / gpu.sm.count.value();
    // What all SMs miss of local memory queues at the L2. Elsewhere the SMs with one CTA more end last.
    return l1_of_sm(kernel, gpu) / std::clamp(keeps_local(kernel) ? mean : std::ceil(mean), 1.0, most);
}

}  // namespace warptime::model::machine
