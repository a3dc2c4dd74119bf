// Path for constants that all lanes of a warp load together: four bytes in l1.constant_interval.
// Ignores: which constants the nearest cache holds (2 kB), and operands of instructions that are constants.
// Wider loads count as so many words; none was recorded.
// Source: kernels/constant_walks, tables of 1 and 2 kB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Cycles of the SM's path for one warp's instruction. An op without an access names no table: its constants
/// come with the instruction.
[[nodiscard]] inline hw::Cycles constant_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                                const hw::Gpu& gpu) {
    constexpr double word = 4.0;
    if (op.access_count == 0) return {};
    return gpu.l1.constant_interval * std::max(1.0, std::ceil(kernel.accesses[op.first_access].bytes / word));
}

}  // namespace warptime::model::machine
