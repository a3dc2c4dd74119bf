// Which sectors of a line an access to listed places ever asks for. A kernel that gathers one field of a
// structure leaves most of each line alone.
// Ignores: sectors that executions outside of the list ask for.
// Source: the list of addresses (model/kernel/README.md, pattern listed).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/kernel/index_grid.hpp"
#include "model/machine/demand/listed_rows.hpp"
#include "model/machine/l1/lane_touch.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace warptime::model::machine {

/// One bit for each sector of a line that some lane touches; all bits where CTAs or warps begin at different
/// places of a line.
[[nodiscard]] inline std::uint32_t sectors_in_use(const kernel::Kernel& kernel, const kernel::Access& access,
                                                  const MemoryPieces& pieces) {
    const auto sector = static_cast<std::int64_t>(pieces.sector);
    const std::int64_t in_line = static_cast<std::int64_t>(pieces.line) / sector;
    const std::uint32_t all = (1U << in_line) - 1U;
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    const kernel::Index& origin = access.origin[0];
    if (kernel::grid_of(kernel, origin) * size % (in_line * sector) != 0) return all;
    const std::int64_t start = origin.constant * size;
    std::uint32_t used = 0;
    for (std::size_t row = 0; row < listed_rows(access) && used != all; ++row) {
        const ListedRow lanes = listed_row(kernel, access, row);
        for (std::uint32_t left = lanes.mask; left != 0; left &= left - 1U) {
            const std::int64_t first = start + lanes.at[static_cast<std::size_t>(std::countr_zero(left))];
            for (std::int64_t at = first / sector; at <= (first + access.bytes - 1) / sector; ++at)
                used |= 1U << (at % in_line);
        }
    }
    return used;
}

}  // namespace warptime::model::machine
