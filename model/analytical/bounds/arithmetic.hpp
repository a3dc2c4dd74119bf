// Arithmetic pipes (fp32, fp64, fp16, integer, special functions, shuffle): instructions times the issue
// interval. Source: CUDA Programming Guide 13, arithmetic instruction throughput; hw/isa for the interval of
// each class. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

namespace warptime::model::analytical {

/// Busy cycles of the fullest sub-partition. Fewer warps than sub-partitions leave some of them idle.
template <class S>
[[nodiscard]] hw::Cycles<S> arithmetic_cycles(const S& instructions, int warps,
                                              const hw::InstructionCost<S>& cost, const hw::Gpu<S>& gpu) {
    const S used = hw::min(gpu.sm.sub_partitions.value(), S(static_cast<double>(warps)));
    return cost.interval * S(instructions / used);
}

}  // namespace warptime::model::analytical
