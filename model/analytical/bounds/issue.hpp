// Issue slots: each sub-partition issues at most one warp-instruction a cycle.
// Ignores: dual-issue (none since Volta) and slots lost to instruction-cache misses.
// Source: CUDA Programming Guide 13, compute capabilities (warp schedulers).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

/// `instructions` machine warp-instructions of all warps together, spread evenly over the sub-partitions.
template <class S>
[[nodiscard]] hw::Cycles<S> issue_cycles(const S& instructions, const hw::Gpu<S>& gpu) {
    return hw::Cycles<S>(instructions / gpu.sm.sub_partitions.value());
}

}  // namespace warptime::model::analytical
