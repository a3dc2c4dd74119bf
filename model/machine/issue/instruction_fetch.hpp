// Instruction fetch: rate at which an SM gets code that its nearest instruction cache does not hold.
// Ignores: where in the text the cached instructions lie, and other kernels on the same SM.
// Source: recorded straight lines of 2 to 900 KB, which show three rates (microbench_straight_line,
// microbench_cold_code). Repeated code slightly larger than a set-associative LRU cache loses every set with
// one line too many. One fetch serves all warps of an SM that run together, at most two of a sub-partition.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Share of `instructions` of repeated code that a cache for `held` instructions lacks. A set with one line
/// too many loses all its lines.
[[nodiscard]] inline double overflowing(double instructions, double held, double ways) {
    if (instructions <= held) return 0.0;
    return std::min(1.0, (instructions - held) * (ways + 1.0) / instructions);
}

/// Warps of a sub-partition that ask for the same text; `lone`: each warp is a CTA of its own, on several
/// SMs.
struct Fetchers {
    double warps = 1.0;
    bool lone = false;
};

/// Cycles per instruction. The nearest cache lacks a share `near`; the next cache lacks a share `far` of
/// these, which arrive every `beyond`. Other instructions pass at one a cycle.
[[nodiscard]] inline hw::Cycles interval_of(double near, double far, const hw::Cycles& beyond,
                                            const Fetchers& by, const hw::Gpu& gpu) {
    if (near == 0.0) return {};
    const hw::Cycles stream = by.lone ? gpu.code.lone_interval : gpu.code.far_interval;
    const hw::Cycles next = stream * std::ceil(std::max(1.0, by.warps) / gpu.code.sharing_warps.value());
    const hw::Cycles fetched = next * (1.0 - far) + std::max(next, beyond) * far;
    return hw::Cycles(1.0 - near) + fetched * near;
}

/// Cycles in which an SM fetches one of `instructions` that it repeats, for all warps that ask together. 0
/// where the nearest cache holds the code.
[[nodiscard]] inline hw::Cycles fetch_interval(double instructions, const Fetchers& by, const hw::Gpu& gpu) {
    const double near =
        overflowing(instructions, gpu.code.near_instructions.value(), gpu.code.near_ways.value());
    const double far = overflowing(instructions, gpu.code.far_instructions.value(), gpu.cache.ways.value());
    return interval_of(near, far, hw::Cycles(gpu.code.l2_interval), by, gpu);
}

/// Cycles per instruction when a launch runs the code for the first time. `flushed`: another kernel has
/// emptied the L2. An SM's own caches keep their code, except for lines of the larger one that the other
/// kernel's text displaces.
[[nodiscard]] inline hw::Cycles first_fetch_interval(double instructions, const Fetchers& by, bool flushed,
                                                     const hw::Gpu& gpu) {
    const double text = instructions + (flushed ? gpu.code.other_instructions.value() : 0.0);
    const double near =
        overflowing(instructions, gpu.code.near_instructions.value(), gpu.code.near_ways.value());
    const double far = overflowing(text, gpu.code.far_instructions.value(), gpu.cache.ways.value());
    const double gone = std::min(far, std::max(0.0, 1.0 - gpu.code.kept_instructions.value() / instructions));
    return interval_of(near, gone, hw::Cycles(flushed ? gpu.code.dram_interval : gpu.code.l2_interval), by,
                       gpu);
}

/// Mean cycles of a loop's taken branch beyond its latency. Some branches find their target in the
/// sub-partition's cache, others do not. All warps of the sub-partition arrive together and wait once.
[[nodiscard]] inline hw::Cycles jump_cycles(double instructions, const hw::Gpu& gpu) {
    const bool held = instructions <= gpu.code.nearest_instructions.value();
    return held ? hw::Cycles{} : hw::Cycles(gpu.code.jump);
}

}  // namespace warptime::model::machine
