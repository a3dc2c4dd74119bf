// Rows of an access whose lanes' addresses a description lists: one row for each execution that was seen.
// Ignores: executions that the list has left out.
// Source: model/kernel/README.md (pattern listed).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/lane_addresses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace warptime::model::machine {

/// One execution. A lane that took no part has address 0 and no bit in `mask`.
struct ListedRow {
    LaneAddresses at{};  ///< bytes from the start of the buffer
    std::uint32_t mask = 0;
};

[[nodiscard]] inline std::size_t listed_rows(const kernel::Access& access) {
    return access.pool_length / static_cast<std::size_t>(lanes_per_warp);
}

[[nodiscard]] inline ListedRow listed_row(const kernel::Kernel& kernel, const kernel::Access& access,
                                          std::size_t row) {
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    ListedRow result;
    const std::size_t first = access.pool_first + row * result.at.size();
    for (std::size_t lane = 0; lane < result.at.size(); ++lane) {
        const std::int64_t index = kernel.address_list[first + lane];
        result.at[lane] = std::max<std::int64_t>(index, 0) * size;
        result.mask |= index >= 0 ? 1U << lane : 0U;
    }
    return result;
}

/// Bytes between the first and the last place of a listed execution, on average.
[[nodiscard]] inline double bytes_apart(const kernel::Kernel& kernel, const kernel::Access& access) {
    const std::size_t rows = listed_rows(access);
    double sum = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
        const ListedRow listed = listed_row(kernel, access, row);
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        std::int64_t last = -1;
        for (std::size_t lane = 0; lane < listed.at.size(); ++lane) {
            if (((listed.mask >> lane) & 1U) == 0) continue;
            first = std::min(first, listed.at[lane]);
            last = std::max(last, listed.at[lane]);
        }
        if (last >= 0) sum += static_cast<double>(last - first);
    }
    return rows == 0 ? 0.0 : sum / static_cast<double>(rows);
}

}  // namespace warptime::model::machine
