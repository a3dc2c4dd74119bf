// Placement of a kernel on a GPU: CTAs on an SM, and SMs that its clusters reach.
// Ignores: other kernels on the chip, and GPCs with fewer TPCs than others where no groups are recorded.
// Source: occupancy.hpp; groups of SMs recorded from the runtime (key cluster.groups).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/occupancy/occupancy.hpp"

#include <cstdint>
#include <span>

namespace warptime::model::machine {

/// Resources that one CTA of the kernel takes of an SM.
[[nodiscard]] CtaResources resources_of(const kernel::Kernel& kernel);

/// CTAs of the kernel resident on one SM. Throws Error naming the resource when not even one fits.
[[nodiscard]] Occupancy residency(const kernel::Kernel& kernel, const SmLimits& limits);

/// Work items of the kernel that are under way at a time on the whole chip.
[[nodiscard]] double items_at_work(const kernel::Kernel& kernel, const hw::Gpu& gpu);

/// Clusters of `cluster` CTAs resident at once with `ctas_per_sm` CTAs an SM. Each group with at least as
/// many SMs as a cluster has CTAs holds as many clusters as fit. Exact for the sizes and residencies recorded
/// from the runtime (microbench_clusters).
[[nodiscard]] std::int64_t clusters_in_groups(std::span<const hw::Number> groups, std::int64_t cluster,
                                              std::int64_t ctas_per_sm);

/// Clusters of `cluster` CTAs resident at once on the chip: in its recorded groups, else in GPCs that share
/// its TPCs evenly.
[[nodiscard]] std::int64_t clusters_at_once(const hw::Gpu& gpu, std::int64_t cluster,
                                            std::int64_t ctas_per_sm);

/// SMs out of `sms` that clusters of `cluster` CTAs can reach with `ctas_per_sm` CTAs an SM; all `sms` where
/// no group holds such a cluster.
[[nodiscard]] std::int64_t reachable_sms(const hw::Gpu& gpu, std::int64_t cluster, std::int64_t sms,
                                         std::int64_t ctas_per_sm = 1);

}  // namespace warptime::model::machine
