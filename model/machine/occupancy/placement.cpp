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

std::int64_t clusters_at_once(const hw::Gpu& gpu, std::int64_t cluster, std::int64_t ctas_per_sm) {
    if (gpu.cluster.groups.front().value() > 0) {
        return clusters_in_groups(gpu.cluster.groups, cluster, ctas_per_sm);
    }
    const auto per_tpc = std::max<std::int64_t>(1, static_cast<std::int64_t>(gpu.tpc.sms.value()));
    const auto gpcs = std::max<std::int64_t>(1, static_cast<std::int64_t>(gpu.gpc.count.value()));
    const std::int64_t tpcs = static_cast<std::int64_t>(gpu.sm.count.value()) / per_tpc;
    const std::int64_t larger = tpcs % gpcs;
    const std::int64_t least = tpcs / gpcs;  // TPCs of a GPC
    const std::array<hw::Number, 1> small{hw::Number(static_cast<double>(least * per_tpc))};
    const std::array<hw::Number, 1> large{hw::Number(static_cast<double>((least + 1) * per_tpc))};
    return (gpcs - larger) * clusters_in_groups(small, cluster, ctas_per_sm) +
           larger * clusters_in_groups(large, cluster, ctas_per_sm);
}

std::int64_t reachable_sms(const hw::Gpu& gpu, std::int64_t cluster, std::int64_t sms,
                           std::int64_t ctas_per_sm) {
    if (cluster <= 1) {
        return sms;
    }
    const std::int64_t packed = clusters_at_once(gpu, cluster, ctas_per_sm);
    return packed > 0 ? std::min((packed * cluster + ctas_per_sm - 1) / ctas_per_sm, sms) : sms;
}

}  // namespace warptime::model::machine
