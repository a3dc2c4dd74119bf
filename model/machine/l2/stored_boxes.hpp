// Bytes that stores send and write.
// An item that stores once, at its end, changes nothing else when another share of its boxes lies inside.
// Ignores: waits for stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/part.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/l2/crossbar.hpp"

namespace warptime::model::machine {

/// Adds `executions` of a store to a part that runs once; `trips`: times that the part runs. Each execution
/// writes `inside` bytes into sectors of `counted` bytes; all together send `sent`.
inline void add_stores(double executions, double inside, double counted, double sent, double trips,
                       const hw::Gpu& gpu, Part& part, BufferTraffic& traffic) {
    traffic.sent_bytes += trips * sent;
    part.sent_bytes += sent;
    traffic.written_bytes += trips * executions * inside;
    traffic.sectors_written += trips * executions * counted / gpu.l1.sector.value();
    part.demand[Server::crossbar_write] += crossbar_write_cycles(sent, gpu);
}

/// Stores of an item whose one storing op stands behind its loop. Each of `boxes` boxes writes `inside` bytes
/// and sends `sent_per_stored` bytes for each.
inline void store_inside(double inside, double boxes, double sent_per_stored, const hw::Gpu& gpu, Part& after,
                         BufferTraffic& traffic) {
    traffic.looked_up_bytes = 0.0;
    after.sent_bytes = traffic.sent_bytes = traffic.written_bytes = traffic.sectors_written = 0.0;
    after.demand[Server::crossbar_write] = hw::Cycles{};
    const double sent = boxes * (inside * sent_per_stored);
    add_stores(boxes, inside, inside, sent, 1.0, gpu, after, traffic);
}

}  // namespace warptime::model::machine
