// Path for constants: four bytes at one address in l1.constant_interval, and l1.constant_fill for a line that
// the nearest cache lacks. Lanes at different addresses are served one address after another.
// Ignores: constants that come from the L2, and operands of instructions that are constants. Wider loads
// count as so many words.
// Source: kernels/constant_walks, tables of 1 to 64 kB; kernels/jpeg_blocks for lanes that differ (CUDA C++
// Programming Guide, Constant Memory).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/distinct_numbers.hpp"
#include "model/machine/demand/listed_rows.hpp"
#include "model/machine/l1/l1_share.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warptime::model::machine {

/// Addresses that the lanes of one warp's load ask for, on average; 1 where all ask for the same.
[[nodiscard]] inline double constant_addresses(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.cls != hw::InstructionClass::ld_constant || op.access_count == 0) return 1.0;
    const kernel::Access& access = kernel.accesses[op.first_access];
    if (access.pattern != kernel::PatternKind::listed) return 1.0;
    double sum = 0.0;
    const std::size_t rows = listed_rows(access);
    for (std::size_t row = 0; row < rows; ++row) {
        const ListedRow lanes = listed_row(kernel, access, row);
        DistinctNumbers addresses;
        for (std::uint32_t left = lanes.mask; left != 0; left &= left - 1U)
            addresses.place_of(lanes.at[static_cast<std::size_t>(std::countr_zero(left))]);
        sum += static_cast<double>(addresses.count());
    }
    return std::max(1.0, sum / static_cast<double>(std::max<std::size_t>(1, rows)));
}

/// Share of one warp's addresses whose line the nearest cache lacks; 0 where the description says nothing.
/// CTAs walk the same tables at about the same places, and so all of them have the whole cache.
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
    const double words = std::max(1.0, std::ceil(kernel.accesses[op.first_access].bytes / word));
    return (gpu.l1.constant_interval * words + gpu.l1.constant_fill * constants_missed(kernel, op, gpu)) *
           constant_addresses(kernel, op);
}

}  // namespace warptime::model::machine
