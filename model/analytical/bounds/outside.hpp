// What lies outside of a matrix: the bulk engine fills it with zeros, but asks the L2 for it row by row, and
// all SMs ask in the same place. Ignores: which SMs are at it at the same time, beyond how many have work.
// Source: products of 64 rows with tiles of 128 and 256 (triton_tma, key tma.outside_bandwidth); a probe of
// such boxes took 4.9 cycles for a row of 64 bytes and 8.4 to 9.3 for one of 128 on all SMs, and no longer
// than for rows inside on one SM and on 16. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// Whether an origin goes with the tile: rows beyond the end of K come once an item.
[[nodiscard]] inline bool goes_with_tile(const kernel::Kernel& kernel, const kernel::Index& origin) {
    for (std::size_t t = origin.first; t < origin.first + std::size_t{origin.count}; ++t) {
        if (kernel.terms[t].variable == kernel::Variable::tile) return true;
    }
    return false;
}

/// What the boxes of an access ask for outside of their matrix, each of `bytes`: on average cycles of an SM.
template <class S>
[[nodiscard]] hw::Cycles<S> outside_cycles(const kernel::Kernel& kernel, const kernel::Access& access,
                                           double bytes, const hw::Gpu<S>& gpu) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    double inside = 1.0;   // share of the rows
    double without = 1.0;  // share of the boxes without rows outside
    for (std::uint8_t d = 1; d < access.rank; ++d) {
        const std::int64_t extent = buffer.extent[d];
        const std::int64_t boxes = (extent + access.box[d] - 1) / access.box[d];
        if (extent % access.box[d] == 0 || !goes_with_tile(kernel, access.origin[d])) continue;
        inside *= static_cast<double>(extent) / static_cast<double>(boxes * access.box[d]);
        without *= 1.0 - 1.0 / static_cast<double>(boxes);
    }
    const double sms = hw::value_of(gpu.sm.count);
    const double asking = (1.0 - without) * std::min(1.0, static_cast<double>(kernel.grid.volume()) / sms);
    return hw::Bytes<S>(S(bytes * (1.0 - inside) * asking)) / gpu.tma.outside_bandwidth;
}

}  // namespace warptime::model::analytical
