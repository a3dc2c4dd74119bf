// Room of a line in an L2 of several partitions: its home keeps it, and so does each partition whose SMs have
// read it.
// Ignores: home lines that leave early because only their copies are hit; key l2.usable includes that.
// Source: DRAM reads of tiled products whose columns are read by one GPC, two or all
// (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l2/request_merging.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Room of a line that `groups` GPCs read, relative to a line that all GPCs read. The line stands at home and
/// in each other partition that has at least one of these GPCs. The result is linear between whole numbers,
/// since some slices have one reader more than others.
[[nodiscard]] inline double room_of_read(double groups, const hw::Gpu& gpu) {
    const double partitions = std::max(1.0, gpu.l2.partitions.value());
    const double absent = 1.0 - 1.0 / partitions;  // probability that one GPC lies outside the partition
    double none = absent;
    double left = std::max(1.0, groups) - 1.0;
    for (; left >= 1.0 && none > 0.0; left -= 1.0) none *= absent;
    none *= 1.0 - std::min(1.0, left) / partitions;
    return (1.0 + (partitions - 1.0) * (1.0 - none)) / partitions;
}

/// Relative room of a line that is written: its home alone.
[[nodiscard]] inline double room_of_written(const hw::Gpu& gpu) {
    return 1.0 / std::max(1.0, gpu.l2.partitions.value());
}

/// Bytes read by all GPCs that stay: each partition keeps a copy.
[[nodiscard]] inline double room_for_all(const hw::Gpu& gpu) {
    return gpu.l2.capacity.value() * gpu.l2.usable.value() / std::max(1.0, gpu.l2.partitions.value());
}

/// Tiles of the operands that GPCs share in the middle of the kernel.
struct GroupsAtWork {
    TouchedTiles of_wave, of_run;
    double runs = 1.0;    ///< runs of consecutive items in a wave
    double groups = 1.0;  ///< GPCs of the chip

    /// Mean number of GPCs that read the same slice.
    [[nodiscard]] double of(Dependence dependence) const {
        const double slices = std::max(1.0, of_wave.distinct(dependence));
        return std::clamp(of_run.distinct(dependence) * runs / slices, 1.0, groups);
    }
};

[[nodiscard]] inline GroupsAtWork groups_at_work(const TileOrder& order, const GroupRuns& runs,
                                                 const hw::Gpu& gpu) {
    const TileRuns tiles(order);
    const auto items = static_cast<double>(order.items());
    // The wave begins with a whole band, unless the band is shorter than the wave.
    const auto band = static_cast<double>(order.band() * order.major());
    const double begin = std::floor(0.5 * std::max(0.0, items - runs.wave) / band) * band;
    GroupsAtWork result;
    result.of_wave = tiles.touched(begin, runs.wave);
    result.of_run = tiles.touched(begin, std::min(runs.length, items));
    result.runs = std::min(runs.wave, items) / std::min(runs.length, items);
    result.groups = std::max(1.0, gpu.gpc.count.value());
    return result;
}

}  // namespace warptime::model::machine
