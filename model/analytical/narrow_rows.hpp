// What a warp waits for plain loads whose lanes lie in narrow rows, element by element.
// Ignores: lines that another CTA of the SM has brought. Source: loops of triton_bf16_second over rows that
// are not aligned (one CTA of an SM waits a latency beyond what its loads take of the L1) and the fit rows
// of gemm_bf16 to gemm_bf16_third, whose unaligned kernels load so. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/l1.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/loaded_latency.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// For the last piece of a box from DRAM beyond a single one: all warps of the CTA meet before they multiply.
template <class S>
[[nodiscard]] hw::Cycles<S> wait_for_box(const kernel::Kernel& kernel, const kernel::Access& access,
                                         const hw::Gpu<S>& gpu) {
    const double pieces = access_bytes(kernel, access).full / hw::value_of(gpu.dram.access_bytes);
    return gpu.dram.queue * S(beyond_the_mean_of_many(pieces));
}

/// Lets an op of `warps` warps that begins at `start` issue only as fast as the path to the L1 takes its
/// loads, none of which passes another. The last of them finds a line that nobody has asked for.
template <class S>
void wait_for_rows(const kernel::Kernel& kernel, const kernel::Op& op, double warps,
                   const hw::Cycles<S>& start, const hw::Cycles<S>& load_latency, const hw::Gpu<S>& gpu,
                   hw::Cycles<S>& issued, hw::Cycles<S>& end) {
    const hw::Cycles<S> each = l1_row_cycles(kernel, op, kernel.accesses[op.first_access], gpu);
    issued = hw::max(issued, start + each * S(static_cast<double>(op.count) * warps));
    end = hw::max(end, issued + load_latency);
    // What asynchronous copies of a stage wait, loads of it wait, too: its pieces come one by one.
    if (memory::gathers(kernel, kernel.accesses[op.first_access])) end += gpu.latency.cp_async_extra;
}

}  // namespace warptime::model::analytical
