// Typical work item: its place, its share of the k-iterations, and the runs of a guarded op in it.
// Ignores: differences between items. Of long loops whose guard is not linear, trips at equal distances
// count.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/collective.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warptime::model::kernel {

/// Coordinates of a typical item: the first tile, with its share of the k-iterations.
[[nodiscard]] inline Coordinates typical_item(const Kernel& kernel) {
    Coordinates at;
    const Schedule& s = kernel.schedule;
    at.item_begin = 0;
    if (s.kind == ScheduleKind::listed && !s.items.empty()) {
        std::int64_t length = 0;
        for (const WorkItem& item : s.items) {
            length += item.end - item.begin;
        }
        at.item_end = std::max<std::int64_t>(1, length / static_cast<std::int64_t>(s.items.size()));
    } else {
        at.item_end = (s.k_iterations + s.split_k - 1) / std::max<std::int64_t>(1, s.split_k);
    }
    return at;
}

/// Share of a k-iteration by which the mean listed item is longer than the typical one.
[[nodiscard]] inline double beyond_typical(const Kernel& kernel) {
    const Schedule& s = kernel.schedule;
    if (s.kind != ScheduleKind::listed || s.items.empty()) return 0.0;
    std::int64_t length = 0;
    for (const WorkItem& item : s.items) length += item.end - item.begin;
    const double mean = static_cast<double>(length) / static_cast<double>(s.items.size());
    return std::max(0.0, mean - static_cast<double>(typical_item(kernel).item_end));
}

/// Iterations of a loop of `trips` in which the op runs, counted one by one. `at.loop[slot]` is that loop.
[[nodiscard]] inline double counted_trips(const Kernel& kernel, const Op& op, Coordinates at,
                                          std::size_t slot, double trips) {
    const double looked_at = std::min(std::ceil(trips), 4096.0);
    double runs = 0.0;
    const auto count = static_cast<std::int64_t>(looked_at);
    for (std::int64_t i = 0; i < count; ++i) {
        at.loop[slot] = static_cast<std::int64_t>((static_cast<double>(i) + 0.5) * trips / looked_at);
        const std::int64_t value = evaluate(kernel, op.when.value, at);
        runs += value >= op.when.low && value < op.when.high ? 1.0 : 0.0;
    }
    return runs * trips / looked_at;
}

/// Iterations of a loop of `trips` in which the op runs.
[[nodiscard]] inline double guarded_trips(const Kernel& kernel, const Op& op, const Coordinates& item,
                                          int depth, double trips) {
    if (!op.when.active || depth == 0) {
        return trips;
    }
    Coordinates at = item;
    const auto slot = static_cast<std::size_t>(depth - 1);
    at.loop[slot] = 0;
    const std::int64_t first = evaluate(kernel, op.when.value, at);
    at.loop[slot] = 1;
    const std::int64_t step = evaluate(kernel, op.when.value, at) - first;
    const auto last = static_cast<std::int64_t>(trips) - 1;
    at.loop[slot] = last;
    if (last > 1 && evaluate(kernel, op.when.value, at) != first + step * last) {
        return counted_trips(kernel, op, item, slot, trips);
    }
    if (step == 0) {
        return first >= op.when.low && first < op.when.high ? trips : 0.0;
    }
    // low <= first + step * i < high
    const double a =
        (static_cast<double>(op.when.low) - static_cast<double>(first)) / static_cast<double>(step);
    const double b =
        (static_cast<double>(op.when.high) - static_cast<double>(first)) / static_cast<double>(step);
    const double from = std::max(0.0, std::min(a, b));
    const double to = std::min(trips, std::max(a, b));
    return std::max(0.0, to - from);
}

/// Share of the iterations in which an op runs, averaged over the role's warps when `when` elects some warps.
[[nodiscard]] inline double guarded_share(const Kernel& kernel, const Op& op, const Role& role,
                                          int first_warp, const Coordinates& item, int depth, double trips) {
    if (!op.when.active) {
        return 1.0;
    }
    if (!is_elected(kernel, op)) {
        return guarded_trips(kernel, op, item, depth, trips) / trips;
    }
    const int warps = role.warps * role.instances;
    Coordinates at = item;
    double sum = 0.0;
    for (int w = 0; w < warps; ++w) {
        at.instance = w / role.warps;
        at.warp = w % role.warps;
        const std::int64_t thread = std::int64_t{first_warp + w} * 32;
        at.thread[0] = thread % kernel.cta.x;
        at.thread[1] = thread / kernel.cta.x % kernel.cta.y;
        at.thread[2] = thread / kernel.cta.x / kernel.cta.y;
        const bool outside = depth == 0;
        const std::int64_t value = outside ? evaluate(kernel, op.when.value, at) : 0;
        sum += outside ? (value >= op.when.low && value < op.when.high ? trips : 0.0)
                       : guarded_trips(kernel, op, at, depth, trips);
    }
    return sum / (trips * warps);
}

}  // namespace warptime::model::kernel
