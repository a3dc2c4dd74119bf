// Lines that the L1 keeps for loads under way: a load of lines that miss waits until it has a place for each.
// Loads come back in the order in which they went out, so that a load from the L2 waits behind one from DRAM.
// Ignores: which sets the lines fall into; copies that pass the L1 by.
// Source: kernels/gather_ladder with 28 kB of L1, where time goes with neither warps nor loads ahead (key
// l1.pending_share). Little, Operations Research 9(3), 1961.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/dram/loaded_latency.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Lines under way in an L1 of `room` bytes; at least those of one warp's load.
[[nodiscard]] inline double pending_lines(double room, const hw::Gpu& gpu) {
    constexpr double of_a_warp = 32.0;
    const double lines = std::max(0.0, room) / gpu.l1.line.value();
    return std::max(of_a_warp, gpu.l1.pending_share.value() * lines);
}

/// Share of the lines that wait for DRAM, of which the share `lost` comes from there, or behind such a line.
/// `pending`: lines under way at a time.
[[nodiscard]] inline double share_behind(double pending, double lost) {
    return std::min(1.0, lost * (beyond_the_mean_of_many(pending) + 1.0));
}

/// Time of a place for a line, alone and for DRAM's queues at half utilisation (loaded_latency.hpp).
struct HeldPlace {
    hw::Cycles alone{}, queued{};
};

/// `pending` lines are under way and the share `lost` of all comes from DRAM. While places are visited for
/// the first time, nearly all come from there, and later nearly none. With n lines under way, at least one
/// comes from DRAM for H(n) visits to each place (coupon collector's problem; Feller, An Introduction to
/// Probability Theory I, 1968, section IX.3). `apart`: lines lie in pages of their own; the last of those
/// that come from DRAM together decides.
[[nodiscard]] inline HeldPlace held_place(double pending, double lost, bool apart, const hw::Cycles& near,
                                          const hw::Cycles& dram, const hw::Gpu& gpu) {
    if (!(near < dram)) return {near, {}};
    const double behind = share_behind(pending, lost);
    const hw::Cycles wait = gpu.dram.queue * (beyond_the_mean_of_many(pending * lost) * behind);
    return {near * (1.0 - behind) + dram * behind, apart ? wait : hw::Cycles{}};
}

}  // namespace warptime::model::machine
