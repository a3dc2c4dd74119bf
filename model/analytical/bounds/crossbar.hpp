// An SM's ports to L2: bytes received and sent over the crossbar, with all SMs at work;
// model/memory/l2_ports.hpp says what changes when they are not. Ignores: merging of requests of neighbouring
// SMs, and hops between the two L2 halves. Source: recorded bulk-copy rates (fitted keys l2.port_bandwidth,
// l2.write_bandwidth). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/memory/row_sectors.hpp"

namespace warptime::model::analytical {

using memory::sector_bytes_per_row;

template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_read_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.port_bandwidth;
}

/// The same of boxes of whole lines, which get more than loads do where each SM asks for its own and nobody
/// takes them along (key l2.box_bandwidth).
template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_box_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.box_bandwidth;
}

template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_write_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.write_bandwidth;
}

/// What the port takes for `rows` of boxes beyond their bytes where these are few: while all SMs ask, a row
/// takes no less than a line takes on its way into an SM (l1.line_interval, of copies by lanes). Rows of 64
/// bytes take 1.9 to 2.1 cycles so (microbench_tensor_boxes, 132 CTAs, whether others read the same or
/// not; 1.0 with 16 CTAs), in the loops of triton_tma with 32 along K some 1.5.
template <class S>
[[nodiscard]] hw::Cycles<S> short_rows_cycles(double rows, double row_bytes, const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> missing = gpu.l1.line_interval - crossbar_read_cycles(S(row_bytes), gpu);
    return hw::max(hw::Cycles<S>{}, missing) * S(rows);
}

}  // namespace warptime::model::analytical
