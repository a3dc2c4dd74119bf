// SPDX-License-Identifier: Apache-2.0
#include "model/occupancy/l1_room.hpp"

#include "hw/dual.hpp"
#include "hw/math.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::occupancy {

template <class S>
double l1_room(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    const SmLimits limits = limits_of(gpu);
    const Occupancy resident = residency(kernel, limits);
    const auto sms = static_cast<std::int64_t>(hw::value_of(gpu.sm.count));
    const int ctas = static_cast<int>(std::clamp<std::int64_t>((kernel.grid.volume() + sms - 1) / sms, 1,
                                                               std::max(1, resident.ctas_per_sm)));
    // The carveout holds what all resident CTAs need, or what the kernel wishes; it never falls below the
    // system's part of as many CTAs as an SM can hold (recorded sets stay up to the same size at a wish for
    // 0 % and without a wish).
    // Kernels with local memory get what is left beside the shared memory that they need (0.94 of 262 kB of
    // it are found: microbench_local_memory, counted).
    const bool keeps_local =
        std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                    [](const auto& buffer) { return buffer.space == kernel::Space::local; });
    std::int64_t needed =
        kernel.carveout >= 0 ? resident.shared_per_sm : resident.shared_per_cta * resident.ctas_per_sm;
    if (kernel.carveout >= 0 || !keeps_local) needed = std::max(needed, limits.shared_reserved * limits.ctas);
    std::int64_t shared = 0;
    for (std::size_t i = limits.carveout_count; i-- > 0;) {
        if (limits.carveouts[i] >= needed) shared = limits.carveouts[i];
    }
    return (hw::value_of(gpu.l1.capacity) - hw::value_of(gpu.l1.reserved) - static_cast<double>(shared)) /
           ctas;
}

template double l1_room(const kernel::Kernel&, const hw::Gpu<double>&);
template double l1_room(const kernel::Kernel&, const hw::Gpu<hw::Dual<4>>&);

}  // namespace warptime::model::occupancy
