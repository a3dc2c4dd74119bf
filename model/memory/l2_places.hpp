// Where reads of a set that comes back find it in an L2 of several partitions: in the partition of the SM
// that reads, in another one, or in DRAM. A line has its home in one partition; SMs of another keep a copy in
// theirs. Each partition replaces the line used least recently, so that a set read in turn is lost soon after
// it has outgrown it. Ignores: which SMs share a partition, and what is left of home lines that only others
// read. Source: recorded sweeps of one SM, of eight and of all, each through its own part or all through
// everything (microbench_l2_halves, microbench_l2_footprint; keys l2.usable, l2.partition_usable).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

#include <algorithm>

namespace warptime::model::memory {

/// Shares of the visits; they add up to 1.
struct L2Places {
    double near = 1.0, other = 0.0, dram = 0.0;
};

struct L2Set {
    double bytes = 0.0;  ///< distinct
    double reach = 1.0;  ///< share of them that the SMs of one partition read
};

/// Share of visits in turn that miss when `bytes` are spread evenly over sets of `ways` lines that hold
/// `room` in all: one line too many in a set, and all of its lines miss in turn.
[[nodiscard]] inline double lost_in_turn(double bytes, double room, double ways) {
    if (bytes <= room) return 0.0;
    return std::min(1.0, (ways + 1.0) * (bytes - room) / bytes);
}

/// Places of a set read again and again in the same order.
template <class S>
[[nodiscard]] L2Places places_in_turn(const L2Set& set, const hw::Gpu<S>& gpu) {
    const double partitions = std::max(1.0, hw::value_of(gpu.l2.partitions));
    const double part = hw::value_of(gpu.l2.capacity) / partitions;
    // Home lines that only others read take room for a while: a set in parts keeps less than one that all
    // read.
    const double apart = partitions > 1.0 ? (1.0 - set.reach) / (1.0 - 1.0 / partitions) : 1.0;
    const double whole = hw::value_of(gpu.l2.partition_usable);
    const double room = part * (whole + (hw::value_of(gpu.l2.usable) - whole) * apart);
    L2Places places;
    const double lost = lost_in_turn(set.bytes * set.reach, room, hw::value_of(gpu.l2.ways));
    places.near = 1.0 - lost;
    // Of what is lost, the lines of other homes are still there while those partitions hold their own lines.
    const double elsewhere = 1.0 - 1.0 / partitions;
    const bool kept = set.reach >= 1.0;
    const double gone = kept ? lost_in_turn(set.bytes / partitions, room, hw::value_of(gpu.l2.ways)) : 1.0;
    places.other = lost * elsewhere * (1.0 - gone);
    places.dram = lost - places.other;
    return places;
}

/// Places of a set that all SMs have read together, each a part, when single lanes of one SM then visit it at
/// random: a line of another home is near only if an SM of the same partition has read it.
template <class S>
[[nodiscard]] L2Places places_of_strangers(double bytes, const hw::Gpu<S>& gpu) {
    const double partitions = std::max(1.0, hw::value_of(gpu.l2.partitions));
    const double home = 1.0 / partitions;
    const double copied = (1.0 - home) * home;
    const double held = (home + copied) * bytes;
    const double room = hw::value_of(gpu.l2.capacity) / partitions * hw::value_of(gpu.l2.partition_usable);
    const double kept = held <= room ? 1.0 : room / held;
    L2Places places;
    places.near = (home + copied) * kept;
    places.other = (1.0 - home - copied * kept) * kept;
    places.dram = 1.0 - places.near - places.other;
    return places;
}

/// What one lane waits on average.
template <class S>
[[nodiscard]] hw::Cycles<S> lane_latency(const L2Places& places, const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> near = (gpu.latency.l2_near + gpu.latency.l2_far) * S(0.5);
    return near * S(places.near) + gpu.latency.l2_other * S(places.other) + gpu.latency.dram * S(places.dram);
}

/// What a load of a warp waits on average that finds its lines there; lines from DRAM that are at home in the
/// partition that asks come sooner than the average of all.
template <class S>
[[nodiscard]] hw::Cycles<S> latency_of(const L2Places& places, const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> near = (gpu.latency.l2_near + gpu.latency.l2_far) * S(0.5);
    const double lost = places.other + places.dram;
    if (lost <= 0.0) return near;
    const hw::Cycles<S> across = gpu.latency.l2_other - near;
    const hw::Cycles<S> far = gpu.latency.dram - across * S(places.other / lost);
    return near + (far - near) * S(lost);
}

}  // namespace warptime::model::memory
