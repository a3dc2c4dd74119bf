// What one instruction touches whose lanes fetch a box in pieces of less than 16 bytes: lines, and passes
// over the banks of the array that is L1 and shared memory. Unaligned matrices are fetched so: a lane holds a
// few neighbouring elements of a row and takes them one after the other, and the next lanes hold the next of
// the row, then rows further on. Ignores: rows of one instruction that share a line. Source: the iterators of
// CUTLASS (include/cutlass/transform/threadblock/predicated_tile_access_iterator.h: a vector of 16 bytes a
// lane in accesses of the rows' alignment) and recorded loops of such kernels (fitted key l1.tag_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/lane_touch.hpp"

namespace warptime::model::memory {

/// Whether the access is a box whose lanes are described: `bytes` a lane and instruction, `inner_extent`
/// lanes side by side in a row, `inner` elements apart, rows `outer` elements apart.
[[nodiscard]] constexpr bool in_narrow_rows(const kernel::Access& access) {
    return access.pattern == kernel::PatternKind::collective && access.outer > 0;
}

/// Whether warps that multiply with the tensor cores fetch it for their stage element by element: a lane has
/// an element of its own in each row that it goes through, and no vector of 16 bytes that it takes in pieces.
[[nodiscard]] bool gathers(const kernel::Kernel& kernel, const kernel::Access& access);

/// Whether any access of the kernel is one.
[[nodiscard]] bool has_narrow_rows(const kernel::Kernel& kernel);

struct RowLanes {
    double lines = 0.0;   ///< averaged over the alignments that the pitch produces
    double passes = 0.0;  ///< over the banks
    double pieces = 1.0;  ///< instructions until a lane has all that it holds
};
[[nodiscard]] RowLanes row_lanes(const kernel::Kernel& kernel, const kernel::Access& access,
                                 const MemoryPieces& pieces);
/// The last of them alone, which is known without looking at every lane.
[[nodiscard]] double row_pieces(const kernel::Kernel& kernel, const kernel::Access& access);

/// Passes that an asynchronous copy of such lanes takes of the stage's banks for each of its own: where a
/// lane takes a vector of 16 bytes in pieces, lanes beside it write to the same banks; lanes that lie in as
/// many rows write side by side along K (SASS and TTGIR of unaligned products of tf32: no conflicts are
/// left).
[[nodiscard]] double copy_pieces(const kernel::Kernel& kernel, const kernel::Access& access);

/// Cycles of the path to the array that a load of an access that `gathers` takes, miss or hit.
[[nodiscard]] double gather_cycles(const kernel::Kernel& kernel, const kernel::Access& access,
                                   const MemoryPieces& pieces);

/// Bytes that a store of such rows sends for each that it writes: whole sectors, of which those written in
/// part count twice, since the L2 keeps their mask and merges them.
[[nodiscard]] double sent_per_written(const kernel::Kernel& kernel, const kernel::Access& access,
                                      const MemoryPieces& pieces);

/// Cycles of the path to the array that one instruction takes: each line's tag, or the passes that bring a
/// load's words to registers. `tag_interval`: key l1.tag_interval; `tags`: key l1.tags.
template <class S>
[[nodiscard]] S row_load_cycles(const kernel::Kernel& kernel, const kernel::Access& access, bool copies,
                                const S& tag_interval, const S& tags, const MemoryPieces& pieces) {
    if (!copies && gathers(kernel, access)) return S(gather_cycles(kernel, access, pieces));
    const RowLanes touch = row_lanes(kernel, access, pieces);
    // A lane that walks through whole sectors finds each in the L1 but for the first time.
    const double visits = pieces.sector / static_cast<double>(access.bytes);
    const S hit = S(1.0) / tags;
    const S each = touch.pieces < visits ? tag_interval : hit + (S(1.0) - hit) / S(visits);
    const S cycles = each * S(touch.lines);
    return copies ? cycles : hw::max(cycles, S(touch.passes));
}

}  // namespace warptime::model::memory
