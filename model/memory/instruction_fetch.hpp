// Instructions: how fast an SM fetches code that its nearest instruction cache does not hold.
// Ignores: where in the text the instructions lie that stay, and other kernels on the same SM.
// Source: recorded straight lines of 2 to 900 KB (microbench_straight_line, microbench_cold_code): three
// rates. A text that goes round and is a little larger than a cache of sets with least recently used out
// first loses every set that has a line too many: 2048, 2080 and 2176 instructions and more miss a tenth, a
// third and all of a nearest cache of 256 lines in 16 ways. All warps of an SM that go through the code
// together are served by one fetch, but no more than two of a sub-partition stay together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::memory {

/// Share of `instructions` that go round which a cache for `held` of them does not have: a set with one line
/// too many loses all of its lines.
[[nodiscard]] inline double overflowing(double instructions, double held, double ways) {
    if (instructions <= held) return 0.0;
    return std::min(1.0, (instructions - held) * (ways + 1.0) / instructions);
}

/// Warps of a sub-partition that ask for the same text; `lone`: each is a CTA of its own, on several SMs.
struct Fetchers {
    double warps = 1.0;
    bool lone = false;
};

/// Cycles for each instruction of those that the nearest cache lacks by a share `near`, and the next one by a
/// share `far` of these, which takes them from where they come every `beyond`; others pass one a cycle.
template <class S>
[[nodiscard]] hw::Cycles<S> interval_of(double near, double far, const hw::Cycles<S>& beyond,
                                        const Fetchers& by, const hw::Gpu<S>& gpu) {
    if (near == 0.0) return {};
    const hw::Cycles<S> stream = by.lone ? gpu.code.lone_interval : gpu.code.far_interval;
    const hw::Cycles<S> next =
        stream * S(std::ceil(std::max(1.0, by.warps) / hw::value_of(gpu.code.sharing_warps)));
    const hw::Cycles<S> fetched = next * S(1.0 - far) + hw::max(next, beyond) * S(far);
    return hw::Cycles<S>(S(1.0 - near)) + fetched * S(near);
}

/// Cycles that an SM takes to fetch one instruction, all warps that ask for it together, of code of so many
/// `instructions` that it runs again and again; 0 where its nearest cache keeps them.
template <class S>
[[nodiscard]] hw::Cycles<S> fetch_interval(double instructions, const Fetchers& by, const hw::Gpu<S>& gpu) {
    const double near =
        overflowing(instructions, hw::value_of(gpu.code.near_instructions), hw::value_of(gpu.code.near_ways));
    const double far =
        overflowing(instructions, hw::value_of(gpu.code.far_instructions), hw::value_of(gpu.code.far_ways));
    return interval_of(near, far, hw::Cycles<S>(gpu.code.l2_interval), by, gpu);
}

/// The same when a launch runs the code for the first time; `flushed`: another kernel has emptied the L2.
/// What an SM's own caches hold stays there, but for what the text of that kernel pushes out.
template <class S>
[[nodiscard]] hw::Cycles<S> first_fetch_interval(double instructions, const Fetchers& by, bool flushed,
                                                 const hw::Gpu<S>& gpu) {
    const double text = instructions + (flushed ? hw::value_of(gpu.code.other_instructions) : 0.0);
    const double beside = instructions + (flushed ? hw::value_of(gpu.code.other_loop) : 0.0);
    const double near =
        overflowing(beside, hw::value_of(gpu.code.near_instructions), hw::value_of(gpu.code.near_ways));
    const double far =
        overflowing(text, hw::value_of(gpu.code.far_instructions), hw::value_of(gpu.code.far_ways));
    const double gone =
        std::min(far, std::max(0.0, 1.0 - hw::value_of(gpu.code.kept_instructions) / instructions));
    return interval_of(near, gone, hw::Cycles<S>(flushed ? gpu.code.dram_interval : gpu.code.l2_interval), by,
                       gpu);
}

/// What a taken branch of a loop of so many `instructions` takes beyond its latency, on average over those
/// that find in the cache of their sub-partition what they go to and those that do not. All its warps come to
/// it together and wait once.
template <class S>
[[nodiscard]] hw::Cycles<S> jump_cycles(double instructions, const hw::Gpu<S>& gpu) {
    const bool held = instructions <= hw::value_of(gpu.code.nearest_instructions);
    return held ? hw::Cycles<S>{} : hw::Cycles<S>(gpu.code.jump);
}

}  // namespace warptime::model::memory
