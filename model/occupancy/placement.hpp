// What a kernel finds when it is placed on a GPU: CTAs on an SM, and the SMs that its clusters reach.
// Ignores: other kernels on the chip.
// Source: occupancy.hpp; the numbers of active clusters as recorded from the runtime (keys
// cluster.*). SPDX-License-Identifier: Apache-2.0
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

/// Clusters of `cluster` CTAs resident at once, `ctas_per_sm` CTAs to an SM: as many as fit in each group of
/// SMs that has at least as many SMs as the cluster has CTAs. Exact for the sizes and residencies that the
/// runtime was asked about (recorded suite microbench_clusters).
template <class Groups>
[[nodiscard]] std::int64_t clusters_in_groups(const Groups& groups, std::int64_t cluster,
                                              std::int64_t ctas_per_sm) {
    std::int64_t clusters = 0;
    for (const auto& group : groups) {
        const auto sms = static_cast<std::int64_t>(hw::value_of(group));
        if (sms >= cluster) clusters += sms * ctas_per_sm / cluster;
    }
    return clusters;
}

/// SMs out of `sms` that clusters of `cluster` CTAs can reach with `ctas_per_sm` CTAs to an SM; all where
/// nothing is recorded.
template <class S>
[[nodiscard]] std::int64_t reachable_sms(const hw::Gpu<S>& gpu, std::int64_t cluster, std::int64_t sms,
                                         std::int64_t ctas_per_sm = 1) {
    if (cluster <= 1) {
        return sms;
    }
    if (const std::int64_t packed = clusters_in_groups(gpu.cluster.groups, cluster, ctas_per_sm);
        packed > 0) {
        return std::min((packed * cluster + ctas_per_sm - 1) / ctas_per_sm, sms);
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
