// Lines, passes and pieces of lanes in narrow rows. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/row_lanes.hpp"

#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/l1/tag_banks.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>

namespace warptime::model::machine {

bool has_narrow_rows(const kernel::Kernel& kernel) {
    return std::any_of(kernel.accesses.begin(), kernel.accesses.end(), in_narrow_rows);
}

bool gathers(const kernel::Kernel& kernel, const kernel::Access& access) {
    constexpr std::int64_t vector = 16, narrowest_asynchronous = 4;
    if (!in_narrow_rows(access) || access.bytes >= narrowest_asynchronous) return false;
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    const auto multiplies = [](const kernel::Op& op) {
        return hw::is_group_product(op.cls) || op.cls == hw::InstructionClass::mma_sync;
    };
    return access.inner * size != vector && std::any_of(kernel.ops.begin(), kernel.ops.end(), multiplies);
}

namespace {

/// Neighbouring lanes in a row; bytes that each lane holds of the row; and the pitch in bytes.
struct Rows {
    std::int64_t in_row = 1, held = 1, pitch = 1;
};

Rows rows_of(const kernel::Kernel& kernel, const kernel::Access& access) {
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    return {std::clamp<std::int64_t>(access.inner_extent, 1, lanes_per_warp), access.inner * size,
            access.outer * size};
}

double lines_of(const Rows& rows, const MemoryPieces& pieces) {
    const auto line = static_cast<std::int64_t>(pieces.line);
    // Every lane has a line of its own.
    if (rows.held >= line) return static_cast<double>(lanes_per_warp);
    // Rows begin anywhere that the pitch allows, and a lane's pieces anywhere in the lane's bytes.
    const std::int64_t grain = std::min(line, std::max(rows.pitch & -rows.pitch, rows.held));
    const auto row = static_cast<double>(rows.in_row * rows.held);
    const double count = static_cast<double>(lanes_per_warp) / static_cast<double>(rows.in_row);
    return count * std::max(1.0, (row + static_cast<double>(line - grain)) / static_cast<double>(line));
}

LaneAddresses addresses_of(const Rows& rows) {
    LaneAddresses at{};
    std::int64_t column = 0;
    std::int64_t first = 0;  // first address of the row
    for (std::int64_t& address : at) {
        address = first + column * rows.held;
        if (++column == rows.in_row) {
            column = 0;
            first += rows.pitch;
        }
    }
    return at;
}

double passes_of(const Rows& rows, const kernel::Access& access, const MemoryPieces& pieces) {
    return static_cast<double>(
        shared_passes(addresses_of(rows), access.bytes, all_lanes, pieces.banks, SharedUse::store));
}

}  // namespace

double row_pieces(const kernel::Kernel& kernel, const kernel::Access& access) {
    return static_cast<double>(rows_of(kernel, access).held) / static_cast<double>(std::max(1, access.bytes));
}

double copy_pieces(const kernel::Kernel& kernel, const kernel::Access& access) {
    constexpr int vector = 16;
    return rows_of(kernel, access).held > vector ? 1.0 : row_pieces(kernel, access);
}

RowLanes row_lanes(const kernel::Kernel& kernel, const kernel::Access& access, const MemoryPieces& pieces) {
    const Rows rows = rows_of(kernel, access);
    return {lines_of(rows, pieces), passes_of(rows, access, pieces), row_pieces(kernel, access)};
}

double gather_cycles(const kernel::Kernel& kernel, const kernel::Access& access, const MemoryPieces& pieces) {
    const Rows rows = rows_of(kernel, access);
    return mean_tag_turns(addresses_of(rows), rows.pitch, static_cast<std::int64_t>(pieces.line),
                          pieces.tags);
}

double sent_per_written(const kernel::Kernel& kernel, const kernel::Access& access,
                        const MemoryPieces& pieces) {
    const auto sector = static_cast<std::int64_t>(pieces.sector);
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    const std::int64_t pitch = access.outer * size;
    const std::int64_t grain = std::min(sector, std::max<std::int64_t>(pitch & -pitch, access.bytes));
    const auto piece = static_cast<double>(access.inner_extent * access.inner * size);
    // Pieces share the sector between them, unless all pieces begin with a sector.
    const double in_part = grain < sector ? 2.0 : 0.0;
    return (piece + static_cast<double>(sector - grain) + in_part * static_cast<double>(sector)) / piece;
}

}  // namespace warptime::model::machine
