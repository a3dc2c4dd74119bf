// An L2 of several partitions answers repeated reads from the reader's partition, from another, or from DRAM:
// the three shares. A line has its home in one partition; SMs of another partition keep a copy in theirs.
// Each partition replaces the least recently used line. A set read in turn is therefore lost soon after it
// outgrows the partition.
// Lines that come from DRAM bring their check bits, where these lie among the data, and the L2 keeps them
// too. Ignores: which SMs share a partition, and home lines that only other partitions read. Source: recorded
// sweeps of one SM, eight and all (microbench_l2_halves, microbench_l2_footprint; keys l2.usable,
// l2.partition_usable); for check bits NVIDIA's patent US 8984372 (docs/mechanisms/l2.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/dram/dram.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Shares of the visits by place; they add up to 1.
struct L2Places {
    double near = 1.0, other = 0.0, dram = 0.0;
};

struct L2Set {
    double bytes = 0.0;  ///< distinct bytes
    double reach = 1.0;  ///< share of the bytes that the SMs of one partition read
};

/// Share of visits in turn that miss. `bytes` lie evenly over sets of `ways` lines, and all sets together
/// hold `room` bytes. A set with one line too many misses all its lines in turn. Each byte that misses brings
/// `beside` bytes more, which take room like it: the share of `bytes` is that of bytes (1 + beside x share).
[[nodiscard]] inline double lost_in_turn(double bytes, double room, double ways, double beside = 0.0) {
    if (bytes <= room) return 0.0;
    const double beyond = (ways + 1.0) * (bytes - room);
    const double linear = bytes * (1.0 - (ways + 1.0) * beside);
    return std::min(1.0,
                    2.0 * beyond / (linear + std::sqrt(linear * linear + 4.0 * beside * bytes * beyond)));
}

/// Shares by place for a set read again and again in the same order.
[[nodiscard]] inline L2Places places_in_turn(const L2Set& set, const hw::Gpu& gpu) {
    const double partitions = std::max(1.0, gpu.l2.partitions.value());
    const double part = gpu.l2.capacity.value() / partitions;
    // Home lines that only other partitions read take room for a while. Therefore the L2 keeps less of a set
    // read in parts than of a set that all SMs read. Where there is one partition, no line is at home in
    // another.
    const double apart = partitions > 1.0 ? (1.0 - set.reach) / (1.0 - 1.0 / partitions) : 0.0;
    const double whole = gpu.l2.partition_usable.value();
    const double room = part * (whole + (gpu.l2.usable.value() - whole) * apart);
    L2Places places;
    const double ways = gpu.cache.ways.value(), beside = check_bits_beside(gpu);
    const double lost = lost_in_turn(set.bytes * set.reach, room, ways, beside);
    places.near = 1.0 - lost;
    // Lost lines with another home are still there while that partition holds its own lines.
    const double elsewhere = 1.0 - 1.0 / partitions;
    const bool kept = set.reach >= 1.0;
    const double gone = kept ? lost_in_turn(set.bytes / partitions, room, ways, beside) : 1.0;
    places.other = lost * elsewhere * (1.0 - gone);
    places.dram = lost - places.other;
    return places;
}

/// Shares by place when single lanes of one SM visit a set at random. All SMs have read the set before, each
/// SM a part. A line with another home is near only if an SM of the reader's partition has read it.
[[nodiscard]] inline L2Places places_of_strangers(double bytes, const hw::Gpu& gpu) {
    const double partitions = std::max(1.0, gpu.l2.partitions.value());
    const double home = 1.0 / partitions;
    const double copied = (1.0 - home) * home;
    const double held = (home + copied) * bytes;
    const double room = gpu.l2.capacity.value() / partitions * gpu.l2.partition_usable.value();
    const double kept = held <= room ? 1.0 : room / held;
    L2Places places;
    places.near = (home + copied) * kept;
    places.other = (1.0 - home - copied * kept) * kept;
    places.dram = 1.0 - places.near - places.other;
    return places;
}

/// Mean latency of one lane.
[[nodiscard]] inline hw::Cycles lane_latency(const L2Places& places, const hw::Gpu& gpu) {
    const hw::Cycles near = (gpu.latency.l2_near + gpu.latency.l2_far) * 0.5;
    return near * places.near + gpu.latency.l2_other * places.other + gpu.latency.dram * places.dram;
}

/// Mean latency of a warp's load. DRAM lines at home in the reader's partition come sooner than the average.
[[nodiscard]] inline hw::Cycles latency_of(const L2Places& places, const hw::Gpu& gpu) {
    const hw::Cycles near = (gpu.latency.l2_near + gpu.latency.l2_far) * 0.5;
    const double lost = places.other + places.dram;
    if (lost <= 0.0) return near;
    const hw::Cycles across = gpu.latency.l2_other - near;
    const hw::Cycles far = gpu.latency.dram - across * (places.other / lost);
    return near + (far - near) * lost;
}

}  // namespace warptime::model::machine
