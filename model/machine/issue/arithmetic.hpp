// Arithmetic pipes (fp32, fp64, fp16, integer, special functions, shuffle): instructions times the issue
// interval.
// Ignores: operand ports (operand_turns.hpp) and issue slots (issue.hpp).
// Source: CUDA Programming Guide 13, arithmetic instruction throughput; hw/isa for the interval of each
// class.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <cmath>
#include <cstdint>

namespace warptime::model::machine {

/// Busy cycles of the fullest sub-partition for each of `resident` CTAs that share the SM. Warps are dealt to
/// sub-partitions in turn; a CTA continues where the previous one ended. Fewer warps than sub-partitions
/// leave some sub-partitions idle.
[[nodiscard]] inline hw::Cycles arithmetic_cycles(double instructions, int warps, std::int64_t resident,
                                                  const hw::InstructionCost& cost, const hw::Gpu& gpu) {
    const auto all = static_cast<double>(warps * resident);
    const double fullest = std::ceil(all / gpu.sm.sub_partitions.value());
    return cost.interval * (instructions * (fullest / all));
}

}  // namespace warptime::model::machine
