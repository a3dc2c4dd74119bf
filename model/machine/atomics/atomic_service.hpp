// Atomics on global memory and stores to few lines: time of the L2 slices, of ordered floating-point
// additions, and of returned values. The slices that hold the sectors carry out the passes of all SMs.
// Ignores: requests for other sectors that overtake a queue.
// Source: atomics.hpp; microbench_atomics atomic_global.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/atomics/atomics.hpp"
#include "model/machine/atomics/slice_order.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/steady/overlap.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace warptime::model::machine {

/// Cycles of the L2 for `items` items. Slices and the return path overlap like two memories that are nearly
/// equally busy.
[[nodiscard]] inline hw::Cycles atomic_cycles(const AtomicTraffic& of_item, double items,
                                              const hw::Gpu& gpu) {
    const double slices = std::max(1.0, slices_reached(of_item.window, gpu) / of_item.skew);
    const hw::Cycles busy = slice_cycles(items * of_item.whole, items * of_item.part, gpu) / slices;
    const hw::Cycles turns = gpu.l2.atomic_chain * (items * of_item.ordered / of_item.sectors);
    const hw::Cycles back = gpu.l2.atomic_return * (items * of_item.returned) / gpu.sm.count.value();
    const double in_slices = of_item.waiting > 0.0
                                 ? in_order(busy.value(), turns.value(), of_item.waiting / slices)
                                 : std::max(busy, turns).value();
    const std::array<double, 2> both{in_slices, back.value()};
    return hw::Cycles(steady::overlapped(std::span<const double>(both), gpu.overlap.exponent.value()));
}

/// Cycles in which the slices take in the stores of `items` items to one buffer. Stores to few lines find as
/// few slices at work as atomics do, each of which takes in its part of l2.ingest_bandwidth. 0 where the
/// window moves: l2.ingest_bandwidth itself limits such stores.
[[nodiscard]] inline hw::Cycles hot_store_cycles(const StoreTraffic& of_item, double items,
                                                 const hw::Gpu& gpu) {
    if (!of_item.window.still) return {};
    const double slices = slices_reached(of_item.window, gpu);
    return l2_ingest_cycles(hw::Bytes(of_item.sent * items), gpu) * std::max(1.0, slices_of(gpu) / slices);
}

}  // namespace warptime::model::machine
