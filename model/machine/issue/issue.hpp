// Issue slots: each sub-partition issues at most one warp-instruction a cycle.
// Ignores: dual-issue (none since Volta) and slots lost to instruction-cache misses.
// Source: CUDA Programming Guide 13, compute capabilities (warp schedulers).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::machine {

/// Cycles for `instructions` machine warp-instructions of all warps together, spread evenly over the
/// sub-partitions.
[[nodiscard]] inline hw::Cycles issue_cycles(double instructions, const hw::Gpu& gpu) {
    return hw::Cycles(instructions / gpu.sm.sub_partitions.value());
}

}  // namespace warptime::model::machine
