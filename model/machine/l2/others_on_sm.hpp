// Warps of other CTAs on the SM that put a CTA out of step with its fellow readers.
// Ignores: the places of their loops.
// Source: sectors of tiled products counted by Nsight Compute (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/machine/demand/server.hpp"

#include <cstddef>

namespace warptime::model::machine {

/// True if a kernel reads by tensor maps, and only boxes whose rows are whole lines.
[[nodiscard]] inline bool boxes_of_lines(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    bool boxes = false;
    for (const kernel::Op& op : kernel.ops) {
        if (op.cls != hw::InstructionClass::cp_async_bulk_tensor || op.access_count == 0) continue;
        const kernel::Access& access = kernel.accesses[op.first_access];
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        const double row = static_cast<double>(access.box[0]) * hw::bytes_of(buffer.dtype);
        if (row < gpu.l1.line.value()) return false;
        boxes = true;
    }
    return boxes;
}

/// Warps that count, for `residents` CTAs an SM with `warps_of_cta` warps each; `bulk`: their loops copy in
/// bulk. A CTA may be at as many places of its loop as it has stages under way. One thread asks for boxes of
/// whole lines. With more stages such a request waits longer at the port, where it meets others for its
/// lines. The law of lanes' copies and of short rows comes from kernels with two stages.
[[nodiscard]] inline double others_on_sm(const kernel::Kernel& kernel, int warps_of_cta, bool bulk,
                                         double residents, const hw::Gpu& gpu) {
    constexpr double counted_ahead = 2.0;
    const double warps = (residents - 1.0) * warps_of_cta;
    const double ahead = kernel::stages_ahead(kernel);
    if (bulk && boxes_of_lines(kernel, gpu)) return warps / (ahead * counted_ahead);
    return warps * ahead / counted_ahead;
}

}  // namespace warptime::model::machine
