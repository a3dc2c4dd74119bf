// Waits of a warp for plain loads whose lanes lie in narrow rows, element by element.
// Ignores: lines that another CTA of the SM has brought.
// Source: recorded loops over unaligned rows (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/dram/loaded_latency.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/l1.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Wait for the last piece of a box from DRAM beyond a single piece; all warps of the CTA meet before they
/// multiply.
[[nodiscard]] inline hw::Cycles wait_for_box(const kernel::Kernel& kernel, const kernel::Access& access,
                                             const hw::Gpu& gpu) {
    const double pieces = access_bytes(kernel, access).full / gpu.dram.access_bytes.value();
    return gpu.dram.queue * beyond_the_mean_of_many(pieces);
}

/// Limits an op's loads by `warps` warps, from `start` on, to the rate of the path to the L1. No load passes
/// another. The last load finds a line that has not been asked for.
inline void wait_for_rows(const kernel::Kernel& kernel, const kernel::Op& op, double warps,
                          const hw::Cycles& start, const hw::Cycles& load_latency, const hw::Gpu& gpu,
                          hw::Cycles& issued, hw::Cycles& end) {
    const hw::Cycles each = l1_row_cycles(kernel, op, kernel.accesses[op.first_access], gpu);
    issued = std::max(issued, start + each * (static_cast<double>(op.count) * warps));
    end = std::max(end, issued + load_latency);
    // Loads of a stage wait as long as its asynchronous copies would, since its pieces arrive one by one.
    if (gathers(kernel, kernel.accesses[op.first_access])) end += gpu.latency.cp_async_extra;
}

}  // namespace warptime::model::machine
