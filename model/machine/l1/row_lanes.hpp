// Lines and bank passes of one instruction whose lanes fetch a box in pieces of less than 16 bytes.
// Kernels fetch unaligned matrices in this way. A lane holds a few neighbouring elements of a row and takes
// the elements one after another. The next lanes hold the row's next elements, then those of further rows.
// Ignores: rows of one instruction that share a line.
// Source: recorded loops of such kernels (key l1.tag_interval; docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/l1/lane_touch.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// True for a box whose lanes are described. Each lane and instruction moves `bytes`; `inner_extent` lanes
/// stand side by side in a row. Lanes lie `inner` elements apart, rows `outer` elements apart.
[[nodiscard]] constexpr bool in_narrow_rows(const kernel::Access& access) {
    return access.pattern == kernel::PatternKind::collective && access.outer > 0;
}

/// True if warps that use the tensor cores fetch the box for their stage element by element. Each lane then
/// has one element in each row that it visits, not a vector of 16 bytes in pieces.
[[nodiscard]] bool gathers(const kernel::Kernel& kernel, const kernel::Access& access);

/// True if any access of the kernel is in narrow rows.
[[nodiscard]] bool has_narrow_rows(const kernel::Kernel& kernel);

struct RowLanes {
    double lines = 0.0;   ///< lines of one instruction, averaged over the alignments that the pitch produces
    double passes = 0.0;  ///< passes over the banks
    double pieces = 1.0;  ///< instructions until a lane has all its elements
};
[[nodiscard]] RowLanes row_lanes(const kernel::Kernel& kernel, const kernel::Access& access,
                                 const MemoryPieces& pieces);
/// Computes `RowLanes::pieces` alone, which needs no look at every lane.
[[nodiscard]] double row_pieces(const kernel::Kernel& kernel, const kernel::Access& access);

/// Passes over the stage's banks that an asynchronous copy takes for each of its own. Lanes with a vector of
/// 16 bytes in pieces write to the same banks as their neighbours. Lanes in as many different rows write side
/// by side along K, without conflicts.
[[nodiscard]] double copy_pieces(const kernel::Kernel& kernel, const kernel::Access& access);

/// Cycles that a load of a gathering access takes on the path to the array, miss or hit.
[[nodiscard]] double gather_cycles(const kernel::Kernel& kernel, const kernel::Access& access,
                                   const MemoryPieces& pieces);

/// Bytes sent by a store of such rows for each byte written. Whole sectors are sent; a sector written in part
/// counts twice, since the L2 keeps its mask and merges it.
[[nodiscard]] double sent_per_written(const kernel::Kernel& kernel, const kernel::Access& access,
                                      const MemoryPieces& pieces);

/// Cycles of one instruction on the path to the array. Either each line's tag limits, or the passes that
/// bring a load's words to registers. `tag_interval`: key l1.tag_interval; `tags`: key l1.tags.
[[nodiscard]] inline double row_load_cycles(const kernel::Kernel& kernel, const kernel::Access& access,
                                            bool copies, double tag_interval, double tags,
                                            const MemoryPieces& pieces) {
    if (!copies && gathers(kernel, access)) return gather_cycles(kernel, access, pieces);
    const RowLanes touch = row_lanes(kernel, access, pieces);
    // A lane that walks through whole sectors misses each once and hits it afterwards.
    const double visits = pieces.sector / static_cast<double>(access.bytes);
    const double hit = 1.0 / tags;
    const double each = touch.pieces < visits ? tag_interval : hit + (1.0 - hit) / visits;
    const double cycles = each * touch.lines;
    return copies ? cycles : std::max(cycles, touch.passes);
}

}  // namespace warptime::model::machine
