// An SM's ports to L2: bytes received and sent over the crossbar, with all SMs at work;
// model/memory/l2_ports.hpp says what changes when they are not. Ignores: merging of requests of neighbouring
// SMs, and hops between the two L2 halves. Source: recorded bulk-copy rates (fitted keys l2.port_bandwidth,
// l2.write_bandwidth). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/memory/row_sectors.hpp"

namespace warptime::model::analytical {

using memory::sector_bytes_per_row;

template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_read_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.port_bandwidth;
}

template <class S>
[[nodiscard]] hw::Cycles<S> crossbar_write_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.l2.write_bandwidth;
}

}  // namespace warptime::model::analytical
