// What a load of one kernel waits for DRAM while another kernel's loops load on the other SMs. Rounds of
// those take longer than a lone warp's would, and a single load shares a part of that: the rest of it their
// loads wait on their own SMs, before the queues that all share. Ignores: the path between SMs and slices,
// which L2 hits share, and stores. Source: microbench_latency chase_loaded, 1.6 to 17 MB asked for at a time
// (0.29 to 0.42 of what a round takes beyond a lone warp's; key dram.shared_wait). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

namespace warptime::model::system {

/// Beyond the latency on an idle chip. `round` and `alone`: SM cycles from one turn of the loading loops to
/// the next, on a chip that is busy with them and of one warp that is alone.
template <class S>
[[nodiscard]] hw::Cycles<S> wait_beside(const hw::Cycles<S>& round, const hw::Cycles<S>& alone,
                                        const hw::Gpu<S>& gpu) {
    return hw::max(round - alone, hw::Cycles<S>{}) * gpu.dram.shared_wait.value();
}

}  // namespace warptime::model::system
