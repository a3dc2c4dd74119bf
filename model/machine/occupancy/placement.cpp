// Residency of a kernel on a GPU, and SMs that its clusters reach. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/placement.hpp"

#include <algorithm>
#include <array>

namespace warptime::model::machine {

CtaResources resources_of(const kernel::Kernel& kernel) {
    CtaResources cta;
    cta.threads = static_cast<int>(kernel.cta.volume());
    cta.registers_per_thread = kernel.registers_per_thread;
    cta.static_shared = kernel.static_shared;
    cta.dynamic_shared = kernel.dynamic_shared;
    cta.carveout_bytes = kernel.carveout;
    cta.named_barriers = kernel.named_barriers;
    return cta;
}

Occupancy residency(const kernel::Kernel& kernel, const SmLimits& limits) {
    const CtaResources cta = resources_of(kernel);
    const Occupancy result = occupancy(cta, limits);
    if (result.ctas_per_sm == 0) {
        check(cta, limits);
    }
    return result;
}

double items_at_work(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    return std::min(static_cast<double>(kernel.schedule.item_count()),
                    gpu.sm.count.value() * residency(kernel, limits_of(gpu)).ctas_per_sm);
}

std::int64_t clusters_in_groups(std::span<const hw::Number> groups, std::int64_t cluster,
                                std::int64_t ctas_per_sm) {
    std::int64_t clusters = 0;
    for (const hw::Number& group : groups) {
        const auto sms = static_cast<std::int64_t>(group.value());
        if (sms >= cluster) clusters += sms * ctas_per_sm / cluster;
    }
    return clusters;
}

std::int64_t reachable_sms(const hw::Gpu& gpu, std::int64_t cluster, std::int64_t sms,
                           std::int64_t ctas_per_sm) {
    if (cluster <= 1) {
        return sms;
    }
    if (const std::int64_t packed = clusters_in_groups(gpu.cluster.groups, cluster, ctas_per_sm);
        packed > 0) {
        return std::min((packed * cluster + ctas_per_sm - 1) / ctas_per_sm, sms);
    }
    const std::array<ClusterLimit, 3> measured{{{2, static_cast<int>(gpu.cluster.active_max_2.value())},
                                                {4, static_cast<int>(gpu.cluster.active_max_4.value())},
                                                {8, static_cast<int>(gpu.cluster.active_max_8.value())}}};
    const std::int64_t clusters =
        max_active_clusters(1, static_cast<int>(cluster), static_cast<int>(sms), measured);
    return clusters > 0 ? std::min(clusters * cluster, sms) : sms;
}

}  // namespace warptime::model::machine
