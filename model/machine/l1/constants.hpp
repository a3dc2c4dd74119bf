// Path for constants that all lanes of a warp load together: four bytes in l1.constant_interval, and
// l1.constant_fill for a line that the nearest cache lacks.
// Ignores: constants that come from the L2, and operands of instructions that are constants. Wider loads
// count as so many words.
// Source: kernels/constant_walks, tables of 1 to 64 kB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/l1_share.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Share of one warp's loads whose line the nearest cache lacks; 0 where the description says nothing. CTAs
/// walk the same tables at about the same places, and so all of them have the whole cache.
[[nodiscard]] inline double constants_missed(const kernel::Kernel& kernel, const kernel::Op& op,
                                             const hw::Gpu& gpu) {
    if (op.cls != hw::InstructionClass::ld_constant || op.access_count == 0) return 0.0;
    const kernel::Access& access = kernel.accesses[op.first_access];
    if (access.reuse == 0) return 0.0;
    return 1.0 - kept_by(kernel.reuse[access.reuse - 1U].whole, gpu.l1.constant_capacity.value());
}

/// Cycles of the SM's path for one warp's instruction. An op without an access names no table: its constants
/// come with the instruction.
[[nodiscard]] inline hw::Cycles constant_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                                const hw::Gpu& gpu) {
    constexpr double word = 4.0;
    if (op.access_count == 0) return {};
    return gpu.l1.constant_interval *
               std::max(1.0, std::ceil(kernel.accesses[op.first_access].bytes / word)) +
           gpu.l1.constant_fill * constants_missed(kernel, op, gpu);
}

}  // namespace warptime::model::machine
