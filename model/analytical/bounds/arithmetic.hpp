// Arithmetic pipes (fp32, fp64, fp16, integer, special functions, shuffle): instructions times the issue
// interval. Source: CUDA Programming Guide 13, arithmetic instruction throughput; hw/isa for the interval of
// each class. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"

#include <cmath>
#include <cstdint>

namespace warptime::model::analytical {

/// Busy cycles of the fullest sub-partition, for each of `resident` CTAs that share the SM: their warps are
/// dealt out to the sub-partitions one after another, a CTA going on where the one before has ended. Fewer
/// warps than sub-partitions leave some of them idle.
template <class S>
[[nodiscard]] hw::Cycles<S> arithmetic_cycles(const S& instructions, int warps, std::int64_t resident,
                                              const hw::InstructionCost<S>& cost, const hw::Gpu<S>& gpu) {
    const auto all = static_cast<double>(warps * resident);
    const double fullest = std::ceil(all / hw::value_of(gpu.sm.sub_partitions));
    return cost.interval * S(instructions * S(fullest / all));
}

}  // namespace warptime::model::analytical
