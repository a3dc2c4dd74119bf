// What lies outside of a matrix: the bulk engine fills it with zeros, but asks
// the L2 for it row by row, and all of it in one place, which 16 of the 96
// slices have (boxes without a row inside), or in one line of each column of
// boxes. Requests of a box and of other SMs merge, four at a time. Ignores:
// which SMs are at it at the same time. Source: sectors of each slice, and
// times of such boxes of 1 to 132 CTAs: they go with the number of CTAs, and
// neither with the place of the boxes nor with the height of the matrix
// (microbench_tensor_boxes: 13 to 15 B/cycle of an SM when all ask, 19 to 22
// where their columns differ and some rows lie inside; products of 64 rows with
// tiles of 128 and 256 in triton_tma: 14). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// Whether an origin goes with the tile: rows beyond the end of K come once an
/// item.
[[nodiscard]] inline bool goes_with_tile(const kernel::Kernel& kernel, const kernel::Index& origin) {
    for (std::size_t t = origin.first; t < origin.first + std::size_t{origin.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::tile) return true;
    }
    return false;
}

/// Share of the bytes of an access's boxes that lie outside of their matrix.
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

/// Whether items ask for what lies outside in places of their own: beside other
/// columns inside.
[[nodiscard]] inline bool outside_in_own_place(const kernel::Kernel& kernel, const kernel::Access& access) {
    return goes_with_tile(kernel, access.origin[0]) && outside_share(kernel, access) < 1.0;
}

/// What the L2 takes for all bytes outside, of them `own` in places of the SMs'
/// own.
template <class S>
[[nodiscard]] hw::Cycles<S> outside_cycles(double bytes, double own, const hw::Gpu<S>& gpu) {
    const S sms = gpu.sm.count.value();
    return hw::Bytes<S>(S(bytes - own)) / (gpu.tma.outside_bandwidth * sms) +
           hw::Bytes<S>(S(own)) / (gpu.tma.outside_own_bandwidth * sms);
}

}  // namespace warptime::model::analytical
