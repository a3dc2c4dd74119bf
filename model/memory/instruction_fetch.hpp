// Instructions: how fast an SM fetches code that its nearest instruction cache does not hold.
// Ignores: warps that have drifted apart and ask for the same code twice, and code a little larger than a
// cache, part of which stays. Source: recorded straight lines of 2 to 900 KB (microbench_straight_line,
// microbench_cold_code): three rates, with steps at the capacities of two caches; all warps that go through
// the code together are served by one fetch. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

namespace warptime::model::memory {

/// Cycles that an SM takes to fetch one instruction, all warps that ask for it together, of code of so many
/// `instructions` that it runs again and again; 0 where its nearest cache keeps them.
template <class S>
[[nodiscard]] hw::Cycles<S> fetch_interval(double instructions, const hw::Gpu<S>& gpu) {
    if (instructions <= hw::value_of(gpu.code.near_instructions)) return {};
    return instructions <= hw::value_of(gpu.code.far_instructions) ? gpu.code.far_interval
                                                                   : gpu.code.l2_interval;
}

/// The same for all of them, once.
template <class S>
[[nodiscard]] hw::Cycles<S> fetch_cycles(double instructions, const hw::Gpu<S>& gpu) {
    return fetch_interval(instructions, gpu) * S(instructions);
}

/// What the first pass takes beyond that when L2 has been flushed. What an SM's own caches hold stays there.
template <class S>
[[nodiscard]] hw::Cycles<S> first_fetch_cycles(double instructions, const hw::Gpu<S>& gpu) {
    if (instructions <= hw::value_of(gpu.code.far_instructions)) return {};
    return (gpu.code.dram_interval - gpu.code.l2_interval) * S(instructions);
}

}  // namespace warptime::model::memory
