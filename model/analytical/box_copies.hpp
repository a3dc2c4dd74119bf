// What copies of whole boxes (bulk copies and tensor maps) take of an SM's engine and port. Ignores:
// descriptor fetches. Source: bounds/tma.hpp, bounds/crossbar.hpp and bounds/outside.hpp say what a row takes
// of each. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/crossbar.hpp"
#include "model/analytical/bounds/outside.hpp"
#include "model/analytical/bounds/tma.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/memory/row_sectors.hpp"

namespace warptime::model::analytical {

/// Adds `boxes` boxes of an access to the demand of a part, as executed once; `trips`: of that part.
template <class S>
void add_box_copies(const kernel::Kernel& kernel, const kernel::Access& access, const AccessBytes& box,
                    double boxes, double trips, const hw::Gpu<S>& gpu, Part<S>& part,
                    BufferTraffic& traffic) {
    const double lines = memory::lines_per_row(box.row_bytes, box.pitch_bytes, hw::value_of(gpu.l1.line));
    const double rows = boxes * box.rows * access.multicast_ctas;
    part.demand[Server::tma] += tma_cycles(S(rows * lines), gpu);
    part.demand[Server::crossbar_read] += short_rows_cycles(rows, box.row_bytes, gpu);
    const double outside = trips * boxes * box.full * outside_share(kernel, access);
    traffic.outside_bytes += outside;
    if (outside_in_own_place(kernel, access)) traffic.outside_own_bytes += outside;
}

}  // namespace warptime::model::analytical
