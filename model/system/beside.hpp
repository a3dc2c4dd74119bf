// Wait of one kernel's load for DRAM while another kernel's loops load on the other SMs.
// Rounds of these loops take longer than a lone warp's, and a single load shares a part of that time. The
// rest they wait on their own SMs, before the queues that all SMs share.
// Ignores: the path between SMs and slices, which L2 hits share, and stores.
// Source: microbench_latency chase_loaded (key dram.shared_wait).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>

namespace warptime::model::system {

/// Wait beyond the latency on an idle chip. SM cycles from one turn of the loading loops to the next: `round`
/// on the busy chip, `alone` for one warp by itself.
[[nodiscard]] inline hw::Cycles wait_beside(const hw::Cycles& round, const hw::Cycles& alone,
                                            const hw::Gpu& gpu) {
    return std::max(round - alone, hw::Cycles{}) * gpu.dram.shared_wait.value();
}

}  // namespace warptime::model::system
