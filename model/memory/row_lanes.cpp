// SPDX-License-Identifier: Apache-2.0
#include "model/memory/row_lanes.hpp"

#include "model/memory/bank_conflicts.hpp"
#include "model/memory/row_sectors.hpp"

#include <algorithm>

namespace warptime::model::memory {

bool has_narrow_rows(const kernel::Kernel& kernel) {
    return std::any_of(kernel.accesses.begin(), kernel.accesses.end(), in_narrow_rows);
}

RowLanes row_lanes(const kernel::Kernel& kernel, const kernel::Access& access) {
    constexpr std::int64_t line = 128;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const std::int64_t size = hw::bytes_of(buffer.dtype);
    const std::int64_t in_row = std::clamp<std::int64_t>(access.inner_extent, 1, lanes_per_warp);
    const std::int64_t held = access.inner * size;
    const std::int64_t pitch = access.outer * size;
    // Rows begin anywhere that the pitch allows, and a lane's pieces anywhere in what it holds.
    const std::int64_t grain = std::min(line, std::max(pitch & -pitch, held));
    const auto row = static_cast<double>(in_row * held);
    const double rows = static_cast<double>(lanes_per_warp) / static_cast<double>(in_row);
    RowLanes result;
    result.lines =
        rows * std::max(1.0, (row + static_cast<double>(line - grain)) / static_cast<double>(line));
    result.pieces = static_cast<double>(held) / static_cast<double>(std::max(1, access.bytes));
    if (held >= line) {
        // Every lane has a line of its own.
        result.lines = static_cast<double>(lanes_per_warp);
    }
    LaneAddresses at{};
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
        const auto l = static_cast<std::int64_t>(lane);
        at[lane] = l % in_row * held + l / in_row * pitch;
    }
    result.passes = static_cast<double>(shared_passes(at, access.bytes));
    return result;
}

double sent_per_written(const kernel::Kernel& kernel, const kernel::Access& access) {
    constexpr std::int64_t sector = 32;
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    const std::int64_t pitch = access.outer * size;
    const std::int64_t grain = std::min(sector, std::max<std::int64_t>(pitch & -pitch, access.bytes));
    const auto piece = static_cast<double>(access.inner_extent * access.inner * size);
    // A piece begins in a sector that another piece of the row has begun, unless all begin with a sector.
    const double in_part = grain < sector ? 2.0 : 0.0;
    return (piece + static_cast<double>(sector - grain) + in_part * sector) / piece;
}

double row_load_cycles(const kernel::Kernel& kernel, const kernel::Access& access, bool copies,
                       double tag_interval) {
    const RowLanes touch = row_lanes(kernel, access);
    const double tags = touch.lines * tag_interval;
    return copies ? tags : std::max(tags, touch.passes);
}

}  // namespace warptime::model::memory
