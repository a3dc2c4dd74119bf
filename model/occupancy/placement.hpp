// What a kernel finds when it is placed on a GPU: CTAs on an SM, and the SMs that its clusters reach.
// Ignores: other kernels on the chip, and clusters of different GPCs that could be packed better.
// Source: occupancy.hpp; the numbers of active clusters as recorded from the runtime (keys
// cluster.active_max_*). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/occupancy/occupancy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::model::occupancy {

/// What one CTA of the kernel takes of an SM.
[[nodiscard]] CtaResources resources_of(const kernel::Kernel& kernel);

/// CTAs of the kernel resident on one SM. Throws Error naming the resource when not even one fits.
[[nodiscard]] Occupancy residency(const kernel::Kernel& kernel, const SmLimits& limits);

/// SMs out of `sms` that clusters of `cluster` CTAs can reach at one CTA per SM; all where nothing is
/// recorded.
template <class S>
[[nodiscard]] std::int64_t reachable_sms(const hw::Gpu<S>& gpu, std::int64_t cluster, std::int64_t sms) {
    if (cluster <= 1) {
        return sms;
    }
    const std::array<ClusterLimit, 3> measured{
        {{2, static_cast<int>(hw::value_of(gpu.cluster.active_max_2))},
         {4, static_cast<int>(hw::value_of(gpu.cluster.active_max_4))},
         {8, static_cast<int>(hw::value_of(gpu.cluster.active_max_8))}}};
    const std::int64_t clusters =
        max_active_clusters(1, static_cast<int>(cluster), static_cast<int>(sms), measured);
    return clusters > 0 ? std::min(clusters * cluster, sms) : sms;
}

}  // namespace warptime::model::occupancy
