// Rows of a box outside its matrix: the bulk engine fills them with zeros, yet asks the L2 for them.
// It asks row by row, always in one place. A box without a row inside uses one place of the L2; otherwise
// each column of boxes uses one line. Requests of a box and of other SMs merge, up to l2.merge_requests at a
// time.
// Ignores: which SMs ask at the same time.
// Source: sectors of each slice, and times of such boxes of 1 to 132 CTAs (microbench_tensor_boxes).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// True if an origin moves with the tile; rows beyond the end of K come once an item.
[[nodiscard]] inline bool goes_with_tile(const kernel::Kernel& kernel, const kernel::Index& origin) {
    for (std::size_t t = origin.first; t < origin.first + std::size_t{origin.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::tile) return true;
    }
    return false;
}

/// Share of the bytes of an access's boxes that lie outside their matrix.
[[nodiscard]] inline double outside_share(const kernel::Kernel& kernel, const kernel::Access& access) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    double inside = 1.0;
    for (std::uint8_t d = 1; d < access.rank; ++d) {
        const std::int64_t extent = buffer.extent[d];
        const std::int64_t boxes = (extent + access.box[d] - 1) / access.box[d];
        if (boxes == 0) return 1.0;
        if (extent % access.box[d] == 0 || !goes_with_tile(kernel, access.origin[d])) continue;
        inside *= static_cast<double>(extent) / static_cast<double>(boxes * access.box[d]);
    }
    return 1.0 - inside;
}

/// Cycles of the L2 for all `bytes` outside.
[[nodiscard]] inline hw::Cycles outside_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / (gpu.tma.outside_bandwidth * gpu.sm.count.value());
}

}  // namespace warptime::model::machine
