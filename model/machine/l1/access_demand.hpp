// What one execution of an access to global or local memory asks of the L1, the slices and DRAM.
// Both engines read it: the closed forms add it up, the simulation serves it event by event.
// Ignores: where the bytes are found beyond the L1, and atomics (model/machine/atomics).
// Source: model/kernel/README.md, Access; lane_touch.hpp and l1.hpp for the cost of lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/listed_rows.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/l1.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l1/row_lanes.hpp"
#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/l1/sectors_in_use.hpp"
#include "model/machine/shared/shared.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// Bytes of one execution, or of one box, that no cache has served.
struct AccessDemand {
    LaneTouch touch;      ///< of lane patterns
    double moved = 0.0;   ///< received through the SM's port, or written
    double asked = 0.0;   ///< of the slices
    double opened = 0.0;  ///< in DRAM, by its least pieces
    /// Of a store: bytes that lanes write, bytes sent for each of its bytes, and bytes sent in all. A store
    /// that leaves with the one before sends nothing of its own (Access::joined).
    double useful = 0.0, padded = 1.0, sent = 0.0;
    double looked_up = 0.0;  ///< part of `sent` for sectors that are read before they change in part
};

/// Touch of a warp of whose lanes a share is active. Mostly whole warps are off, or whole ends of a row. So
/// the touch goes with the share, and an execution touches one sector at least.
[[nodiscard]] inline LaneTouch touched_by_share(const LaneTouch& whole, double active) {
    const auto share = [active](double of_all) { return std::max(1.0, of_all * active); };
    const double sectors = share(whole.sectors);
    return {sectors, share(whole.granules), share(whole.lines), share(whole.passes),
            whole.sectors > 0.0 ? whole.parted * (sectors / whole.sectors) : 0.0};
}

/// Means over executions are no whole numbers.
inline constexpr double rounding = 1e-9;

/// Whether the kernel loads from a buffer by lanes, so that what it stores there finds sectors in the L2.
[[nodiscard]] inline bool reads_buffer(const kernel::Kernel& kernel, kernel::Id buffer) {
    return std::any_of(kernel.accesses.begin(), kernel.accesses.end(),
                       [buffer](const kernel::Access& access) {
                           return access.buffer == buffer && access.direction == kernel::Direction::read;
                       });
}

/// `bytes`: those of the access with all lanes active. `served`: the same rows as the L1 serves them.
/// `active`: share of the lanes of a pattern that are active; 1 for a box.
[[nodiscard]] inline AccessDemand access_demand(const kernel::Kernel& kernel, const kernel::Op& op,
                                                const kernel::Access& access, const AccessBytes& bytes,
                                                const AccessBytes& served, const MemoryPieces& pieces,
                                                const hw::Gpu& gpu, double active = 1.0) {
    const bool collective = access.pattern == kernel::PatternKind::collective;
    const bool broadcast = access.pattern == kernel::PatternKind::broadcast;
    AccessDemand d;
    // A word that all lanes share is one word, however many of them are active.
    const double on = collective || broadcast ? 1.0 : active;
    d.moved = d.asked = d.opened = bytes.full * on;
    if (!collective) {
        d.touch = touched_by_share(touch_of(kernel, access, 1.0, pieces), active);
        if (access.direction != kernel::Direction::write) d.moved = d.touch.sectors * pieces.sector;
        d.asked = std::max(d.moved, d.touch.lines * gpu.l2.access_bytes.value());
        d.opened = std::max(d.moved, d.touch.granules * pieces.granule);
        if (access.pattern == kernel::PatternKind::chase) d.asked = d.moved = d.opened = bytes.full * on;
    } else if (bytes.rows > 0.0) {
        d.asked = d.moved =
            served.rows * sector_bytes_per_row(served.row_bytes, served.pitch_bytes, pieces.sector);
    }
    if (access.direction == kernel::Direction::read) return d;
    d.padded = in_narrow_rows(access) ? sent_per_written(kernel, access, pieces)
               : collective           ? sent_per_byte(op, bytes, gpu)
                                      : 1.0;
    d.useful =
        collective || broadcast ? bytes.inside : static_cast<double>(lanes_per_warp * access.bytes) * on;
    // A line of which lanes write some sectors in part takes one sector's time more: the L2 looks up what the
    // line holds and keeps a mask. Where the kernel has read the buffer, the sectors are there, and each that
    // changes in part is read and written; one that the kernel has changed before is not read again.
    const bool partial = !collective && !broadcast && access.direction == kernel::Direction::write &&
                         d.touch.sectors * pieces.sector > d.useful * (1.0 + rounding);
    if (partial) {
        // At most so many sectors are whole.
        const double whole = std::floor(d.useful / pieces.sector * (1.0 + rounding));
        d.touch.parted = std::clamp(d.touch.sectors - whole, d.touch.parted, d.touch.sectors);
    }
    const double merging = partial && reads_buffer(kernel, access.buffer)
                               ? d.touch.parted
                               : std::min(d.touch.parted, d.touch.lines);
    d.looked_up = (merging - std::min(d.touch.parted, d.touch.lines)) * pieces.sector;
    d.sent = partial ? (d.touch.sectors + merging) * pieces.sector : bytes.inside * on * d.padded;
    return d;
}

/// Notes `executions` of a store whose lanes lie apart and cover most of their sectors in part. Of rows, the
/// two ends alone are parts, which neighbours complete.
inline void note_parted(const LaneTouch& touch, double executions, const hw::Gpu& gpu,
                        BufferTraffic& traffic) {
    if (2.0 * touch.parted < touch.sectors || touch.sectors < 2.0) return;
    traffic.parted_bytes += executions * touch.parted * gpu.l1.sector.value();
}

/// Notes the `lines` and `sectors` that executions of one store or atomic at listed places touch.
inline void note_scattered_writes(const kernel::Kernel& kernel, const kernel::Access& access, double lines,
                                  double sectors, const hw::Gpu& gpu, BufferTraffic& traffic) {
    // What local memory writes again has a law of its own (kept_of_local.hpp).
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    if (access.pattern != kernel::PatternKind::listed || buffer.space == kernel::Space::local) return;
    traffic.scattered.written_lines += lines * gpu.l1.line.value();
    traffic.scattered.written_sectors += sectors * gpu.l1.sector.value();
    traffic.scattered.written_apart = std::max(traffic.scattered.written_apart, bytes_apart(kernel, access));
}

/// Notes scattered visits of `lines` that open `opened` bytes in DRAM, to words of which lanes read `words`
/// bytes. `unmet`: share of the visits that nothing nearer serves.
inline void note_scattered(const kernel::Kernel& kernel, const kernel::Access& access, double lines,
                           double opened, double words, double unmet, const MemoryPieces& pieces,
                           BufferTraffic& traffic) {
    traffic.scattered.read += opened * unmet;
    traffic.scattered.visits += lines * unmet;
    traffic.scattered.all += lines;
    traffic.scattered.words += words;
    traffic.scattered.far += lines * access.far;
    const double reach = static_cast<double>(access.distinct) *
                         hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    traffic.scattered.span = std::max(traffic.scattered.span, reach);
    traffic.scattered.apart = std::max(traffic.scattered.apart, bytes_apart(kernel, access));
    traffic.scattered.sectors |= sectors_in_use(kernel, access, pieces);
}

/// Cycles of one load whose lines pass the L1 one by one. A missed line takes one cycle through the tags.
/// Hits take several lines a cycle through the tags, and a pass over the banks. In both cases the bytes pass
/// the array that is also the shared memory. `hits`: share that the L1 serves.
[[nodiscard]] inline double line_load_cycles(const LaneTouch& touch, double lane_bytes, double hits,
                                             const hw::Gpu& gpu, double active = 1.0) {
    return std::max(touch.lines * (1.0 - hits) + hit_cycles(touch, gpu) * hits,
                    shared_cycles(lanes_per_warp * active * lane_bytes, gpu).value());
}

/// Passes of one load through the data path that leads to the L1 and to shared memory: those over the banks
/// for hits, and fewer than lines for misses, whose sectors come together. Source: counter
/// l1tex__data_pipe_lsu_wavefronts of gather_scatter.cu (random gathers of 32 lines take 14 passes).
[[nodiscard]] inline double load_passes(const LaneTouch& touch, double lane_bytes, double hits,
                                        const hw::Gpu& gpu, double active = 1.0) {
    constexpr double of_missed_line = 14.0 / 32.0;
    const double bytes = shared_cycles(lanes_per_warp * active * lane_bytes, gpu).value();
    return std::max({1.0, bytes, touch.passes * hits + of_missed_line * touch.lines * (1.0 - hits)});
}

/// The same for a store: one pass for its addresses and one for each line. Source: the same counter of
/// scattered_stores.cu (1 to 32 lines).
[[nodiscard]] inline double store_passes(const LaneTouch& touch) {
    return 1.0 + touch.lines;
}

}  // namespace warptime::model::machine
