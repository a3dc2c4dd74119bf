// Demand of copies of whole boxes (bulk copies and tensor maps) on an SM's engine and port.
// Ignores: descriptor fetches.
// Source: tma.hpp, crossbar.hpp and outside.hpp for the cost of a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/bulk/outside.hpp"
#include "model/machine/bulk/tma.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/part.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/l2/crossbar.hpp"

namespace warptime::model::machine {

/// Adds `boxes` boxes of an access to the demand of a part that runs once. `trips`: times that the part runs.
inline void add_box_copies(const kernel::Kernel& kernel, const kernel::Access& access, const AccessBytes& box,
                           double boxes, double trips, const hw::Gpu& gpu, Part& part,
                           BufferTraffic& traffic) {
    const double lines = lines_per_row(box.row_bytes, box.pitch_bytes, gpu.l1.line.value());
    const double rows = boxes * box.rows * access.multicast_ctas;
    part.demand[Server::tma] += tma_cycles(rows * lines, gpu);
    part.demand[Server::crossbar_read] += short_rows_cycles(rows, box.row_bytes, gpu);
    traffic.outside_bytes += trips * boxes * box.full * outside_share(kernel, access);
}

}  // namespace warptime::model::machine
