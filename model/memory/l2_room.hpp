// Room that lines take in an L2 of several partitions: their home keeps them, and so does every other
// partition whose SMs have read them. Ignores: home lines that leave earlier since only their copies are hit,
// which l2.usable has in it. Source: DRAM reads of tiled products whose columns are read by one graphics
// processing cluster, by two or by all (counters_triton_bf16, fit and development rows): sets that come back
// after 23 to 35 MB of room are missed by 9 to 95 %, in the order of that room and not of their bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/memory/request_merging.hpp"
#include "model/occupancy/tile_order.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::memory {

/// Of lines that `groups` clusters of SMs read, in shares of the room of lines that all read: their home, and
/// each other partition unless none of the clusters is there. Between whole numbers of them a straight line:
/// some slices have one more than others.
template <class S>
[[nodiscard]] double room_of_read(double groups, const hw::Gpu<S>& gpu) {
    const double partitions = std::max(1.0, hw::value_of(gpu.l2.partitions));
    const double absent = 1.0 - 1.0 / partitions;  // one cluster, from one partition
    double none = absent;
    double left = std::max(1.0, groups) - 1.0;
    for (; left >= 1.0 && none > 0.0; left -= 1.0) none *= absent;
    none *= 1.0 - std::min(1.0, left) / partitions;
    return (1.0 + (partitions - 1.0) * (1.0 - none)) / partitions;
}

/// The same of lines that are written: their home.
template <class S>
[[nodiscard]] double room_of_written(const hw::Gpu<S>& gpu) {
    return 1.0 / std::max(1.0, hw::value_of(gpu.l2.partitions));
}

/// Which slices of the operands the clusters of SMs share, in the middle of the kernel.
struct GroupsAtWork {
    occupancy::TouchedTiles of_wave, of_run;
    double runs = 1.0;    ///< of consecutive items in a wave
    double groups = 1.0;  ///< clusters of SMs

    /// Clusters of SMs that read the same slice, on average.
    [[nodiscard]] double of(occupancy::Dependence dependence) const {
        const double slices = std::max(1.0, of_wave.distinct(dependence));
        return std::clamp(of_run.distinct(dependence) * runs / slices, 1.0, groups);
    }
};

template <class S>
[[nodiscard]] GroupsAtWork groups_at_work(const occupancy::TileOrder& order, const GroupRuns& runs,
                                          const hw::Gpu<S>& gpu) {
    const occupancy::TileRuns tiles(order);
    const auto items = static_cast<double>(order.items());
    // A whole band, unless it is shorter than the wave.
    const auto band = static_cast<double>(order.band() * order.major());
    const double begin = std::floor(0.5 * std::max(0.0, items - runs.wave) / band) * band;
    GroupsAtWork result;
    result.of_wave = tiles.touched(begin, runs.wave);
    result.of_run = tiles.touched(begin, std::min(runs.length, items));
    result.runs = std::min(runs.wave, items) / std::min(runs.length, items);
    result.groups = std::max(1.0, hw::value_of(gpu.gpc.count));
    return result;
}

}  // namespace warptime::model::memory
