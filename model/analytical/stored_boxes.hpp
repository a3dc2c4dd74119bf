// What stores send and write. Of an item that stores once, at its end, boxes of which another share lies
// inside the matrix change nothing else. Ignores: waits for stores. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/crossbar.hpp"
#include "model/analytical/item_demand.hpp"

namespace warptime::model::analytical {

/// Adds so many executions of a store, each of which writes `inside` bytes, and sends `sent` in all, to the
/// demand of a part, as executed once; `trips`: of that part.
template <class S>
void add_stores(double executions, double inside, double sent, double trips, const hw::Gpu<S>& gpu,
                Part<S>& part, BufferTraffic& traffic) {
    traffic.sent_bytes += trips * sent;
    part.sent_bytes += sent;
    traffic.written_bytes += trips * executions * inside;
    part.demand[Server::crossbar_write] += crossbar_write_cycles(S(sent), gpu);
}

/// Of an item whose one op that stores stands behind its loop: to `inside` bytes of each box.
template <class S>
void store_inside(double inside, const hw::Gpu<S>& gpu, ItemDemand<S>& item, BufferTraffic& traffic) {
    item.after.sent_bytes = traffic.sent_bytes = traffic.written_bytes = 0.0;
    item.after.demand[Server::crossbar_write] = hw::Cycles<S>{};
    const double sent = item.boxes_stored * (inside * item.sent_per_stored);
    add_stores(item.boxes_stored, inside, sent, 1.0, gpu, item.after, traffic);
}

}  // namespace warptime::model::analytical
