// The L1 data path: every warp-wide load that misses passes its tag stage, wide or narrow; asynchronous
// copies of 16 bytes a lane bypass the L1's data and take it by the line, so that short rows cost more for
// their bytes. Ignores: hits (every global load of the operators modelled so far misses), and lines beyond
// four a request. Source: GEMMs whose unaligned rows force 2- and 4-byte loads (fitted key
// l1.request_interval); the Triton sweep (fitted key l1.line_interval; the probe cp_async_rows alone
// gives 1.3 to 1.9 cycles a line, more with more CTAs). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/lane_touch.hpp"
#include "model/memory/row_lanes.hpp"

#include <algorithm>

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> l1_cycles(const S& requests, const hw::Gpu<S>& gpu) {
    return gpu.l1.request_interval * requests;
}

/// One load that hits: a pass over the banks a cycle, as fast as the tags look its lines up. Source: recorded
/// rows of microbench_spill local_chase, whose lanes lie in 16 and 32 lines without bank conflicts.
template <class S>
[[nodiscard]] double hit_cycles(const memory::LaneTouch& touch, const hw::Gpu<S>& gpu) {
    return std::max(touch.passes, touch.lines / hw::value_of(gpu.l1.tags));
}

/// `rows` contiguous rows of `row_bytes`, each of which begins with a line; a row of less than two sectors
/// takes less. Source: microbench_cp_async_rows, rows that many CTAs read in step: 1.10 cycles for 32 bytes,
/// 1.32 for 64.
template <class S>
[[nodiscard]] hw::Cycles<S> l1_line_cycles(double rows, double row_bytes, const hw::Gpu<S>& gpu) {
    const double line = hw::value_of(gpu.l1.line);
    const double missing = std::max(0.0, 2.0 - std::max(1.0, row_bytes / hw::value_of(gpu.l1.sector)));
    return (gpu.l1.line_interval - gpu.l1.sector_interval * S(missing)) *
           S(rows * std::max(1.0, row_bytes / line));
}

/// What copies of less than 16 bytes a lane take of the array more: their lines cannot pass the L1 by (PTX
/// ISA 8.7, cp.async), they are put into it and taken out again by the sector. Saturated loops of
/// triton_bf16 and triton_bf16_second take 14.5, 12 and 8.3 cycles for instructions of eight rows of 32
/// bytes, four of 64 and four of 32, of which the lines' tags are 8.9, 5.5 and 4.4. The key is of two
/// sectors.
template <class S>
[[nodiscard]] hw::Cycles<S> narrow_line_cycles(double rows, double row_bytes, const hw::Gpu<S>& gpu) {
    const double sectors = rows * std::max(1.0, row_bytes / hw::value_of(gpu.l1.sector));
    return gpu.l1.narrow_line * S(0.5 * sectors);
}

/// What the array takes for copies of short rows beyond their bytes: no line holds it for less than
/// shared.copy_share of a pass, however little of it is copied (loops of mma.sync in triton_loop, triton_bf16
/// and triton_bf16_second with 32 along K, whose operand reads and copies share the array).
template <class S>
[[nodiscard]] hw::Cycles<S> short_row_cycles(double rows, double row_bytes, double lines,
                                             const hw::Gpu<S>& gpu) {
    const S bytes = (hw::Bytes<S>(S(row_bytes)) / gpu.shared.bandwidth).value();
    return hw::Cycles<S>(S(rows) * hw::max(S(0.0), gpu.shared.copy_share.value() * S(lines) - bytes));
}

/// Cycles of one warp's instruction of a load or copy whose lanes lie in narrow rows.
template <class S>
[[nodiscard]] hw::Cycles<S> l1_row_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                          const kernel::Access& access, const hw::Gpu<S>& gpu) {
    const bool copies = op.cls == hw::InstructionClass::cp_async;
    return hw::Cycles<S>(memory::row_load_cycles(kernel, access, copies, gpu.l1.tag_interval.value(),
                                                 gpu.l1.tags.value(), memory::pieces_of(gpu)));
}

}  // namespace warptime::model::analytical
