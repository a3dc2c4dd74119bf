// An SM's port to L2: cycles to receive and to send bytes over the crossbar while all SMs work.
// Fewer SMs at work: l2_ports.hpp.
// Ignores: merged requests (request_merging.hpp) and hops between the two L2 partitions.
// Source: recorded rates of bulk copies; fitted keys l2.port_bandwidth, l2.box_bandwidth and
// l2.write_bandwidth.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l1/row_sectors.hpp"

#include <algorithm>

namespace warptime::model::machine {

[[nodiscard]] inline hw::Cycles crossbar_read_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / gpu.l2.port_bandwidth;
}

/// Cycles to receive boxes of whole lines. Boxes exceed the rate of loads where SMs read lines of their own,
/// which merge with no request (key l2.box_bandwidth).
[[nodiscard]] inline hw::Cycles crossbar_box_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / gpu.l2.box_bandwidth;
}

[[nodiscard]] inline hw::Cycles crossbar_write_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / gpu.l2.write_bandwidth;
}

/// Cycles that `rows` of boxes take beyond their bytes. While all SMs ask, a row takes at least a line's time
/// into an SM (key l1.line_interval). Source: microbench_tensor_boxes with rows of 64 bytes.
[[nodiscard]] inline hw::Cycles short_rows_cycles(double rows, double row_bytes, const hw::Gpu& gpu) {
    const hw::Cycles missing = gpu.l1.line_interval - crossbar_read_cycles(row_bytes, gpu);
    return std::max(hw::Cycles{}, missing) * rows;
}

}  // namespace warptime::model::machine
