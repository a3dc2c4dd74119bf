// SMs of one GPC at work when a kernel has fewer CTAs than the chip has SMs.
// Ignores: concurrent kernels, and CTAs that end early.
// Source: SMs of the CTAs of launches of 1 to 200 CTAs (H200). First come single TPCs that no larger group
// could take, all in one GPC with the smallest other group. Next comes one SM of every TPC, group after group
// in turn; then the second SMs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warptime::model::machine {

/// SMs in the largest GPC.
[[nodiscard]] inline double largest_group(const hw::Gpu& gpu) {
    double largest = 0.0;
    for (const auto& group : gpu.cluster.groups) largest = std::max(largest, group.value());
    return largest > 0.0 ? largest : gpu.sm.count.value() / std::max(1.0, gpu.gpc.count.value());
}

/// Most SMs of one GPC at work, when `sms` SMs in all run CTAs in clusters of `cluster`.
[[nodiscard]] inline double fullest_group(const hw::Gpu& gpu, std::int64_t sms, std::int64_t cluster) {
    const double largest = largest_group(gpu);
    const auto n = static_cast<double>(sms);
    if (n >= gpu.sm.count.value()) return largest;
    const auto count = static_cast<std::size_t>(std::max(1.0, gpu.gpc.count.value()));
    const std::size_t parts = gpu.cluster.groups.size();
    if (parts < count) {
        return std::min(n, std::max(static_cast<double>(cluster), std::ceil(n / static_cast<double>(count))));
    }
    const auto size = [&](std::size_t i) { return gpu.cluster.groups[i].value(); };
    if (cluster > 1) {
        // Whole clusters fill one group after the other.
        const auto each = static_cast<double>(cluster);
        double fits = 0.0;
        for (std::size_t i = 0; i < parts; ++i) fits += size(i) >= each ? 1.0 : 0.0;
        return std::min({n, largest, each * std::ceil(n / each / std::max(1.0, fits))});
    }
    const double per_tpc = std::max(1.0, gpu.tpc.sms.value());
    const std::size_t whole = parts - count;  // the first group that is no single TPC
    double single = 0.0;
    for (std::size_t i = 0; i < whole; ++i) single += size(i);
    double first = std::min(n, single);  // with the smallest other group
    double other = 0.0;
    double left = n - first;
    for (int pass = 0; pass < 2 && left > 0.0; ++pass) {
        double level = 0.0;
        double taken = 0.0;
        while (taken < left && level < largest) {
            level += 1.0;
            taken = 0.0;
            for (std::size_t i = whole; i < parts; ++i) taken += std::min(size(i) / per_tpc, level);
        }
        first += std::min(size(whole) / per_tpc, level);
        other += std::min(largest / per_tpc, level);
        left -= taken;
    }
    return std::max(first, other);
}

}  // namespace warptime::model::machine
