// How many warps of other CTAs on its SM put a CTA out of step with those that read the same.
// Ignores: which places of their loops they are at. Source: Nsight Compute's sectors of Triton's tiles
// (counters_triton_bf16, counters_triton_tma) and of 124 cases of triton_tma and triton_tma_second with two
// to seven CTAs an SM (fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/kernel/description.hpp"

#include <cstddef>

namespace warptime::model::analytical {

/// Whether a kernel reads by tensor maps, and only boxes whose rows are whole lines.
template <class S>
[[nodiscard]] bool boxes_of_lines(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    bool boxes = false;
    for (const kernel::Op& op : kernel.ops) {
        if (op.cls != hw::InstructionClass::cp_async_bulk_tensor || op.access_count == 0) continue;
        const kernel::Access& access = kernel.accesses[op.first_access];
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        const double row = static_cast<double>(access.box[0]) * hw::bytes_of(buffer.dtype);
        if (row < hw::value_of(gpu.l1.line)) return false;
        boxes = true;
    }
    return boxes;
}

/// Of `residents` CTAs that share an SM. Each stage under way is a place in its loop where a CTA may be; the
/// law of those whose lanes copy, and of short rows by boxes, was read off kernels with two. Boxes of whole
/// lines are asked for by one thread, and the more stages are under way, the longer a request waits at the
/// port for the same lines of others: 62 cases with 64 and 128 along K merge 0.6 of what they could with
/// eight warps, two stages and four CTAs, 0.8 with four warps, 0.9 to 1.0 with four stages.
template <class S>
[[nodiscard]] double others_on_sm(const kernel::Kernel& kernel, const ItemDemand<S>& item, double residents,
                                  const hw::Gpu<S>& gpu) {
    constexpr double counted_ahead = 2.0;
    const double warps = (residents - 1.0) * item.warps;
    const double ahead = stages_ahead(kernel);
    const bool bulk = hw::Cycles<S>{} < item.loop.demand[Server::tma];
    if (bulk && boxes_of_lines(kernel, gpu)) return warps / (ahead * counted_ahead);
    return warps * ahead / counted_ahead;
}

}  // namespace warptime::model::analytical
