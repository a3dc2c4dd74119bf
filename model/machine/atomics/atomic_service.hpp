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

/// Cycles of the atomics of all items.
struct AtomicTime {
    hw::Cycles mean;    ///< of a slice on average; slices serve loads and stores besides
    hw::Cycles beyond;  ///< by which the slice that is asked most takes longer
    hw::Cycles back;    ///< of the way that old values take to the SMs

    /// Atomics on another buffer, whose hot words lie in another slice.
    void add(const AtomicTime& other) {
        mean += other.mean;
        beyond = std::max(beyond, other.beyond);
        back += other.back;
    }
};

/// Cycles of the L2 for `items` items.
[[nodiscard]] inline AtomicTime atomic_time(const AtomicTraffic& of_item, double items, const hw::Gpu& gpu) {
    const double slices = slices_at_work(of_item.window, of_item.skew(), gpu);
    const hw::Cycles busy = slice_cycles(items * of_item.whole, items * of_item.part, gpu) / slices;
    const hw::Cycles turns = gpu.l2.atomic_chain * (items * of_item.ordered / of_item.sectors);
    const hw::Cycles back = gpu.l2.atomic_return * (items * of_item.returned) / gpu.sm.count.value();
    const double in_slices = of_item.waiting > 0.0
                                 ? in_order(busy.value(), turns.value(), of_item.waiting / slices)
                                 : std::max(busy, turns).value();
    const hw::Cycles mean = slice_cycles(items * of_item.whole, items * of_item.part, gpu) / slices_of(gpu);
    return {mean, std::max(hw::Cycles{}, hw::Cycles(in_slices) - mean), back};
}

/// Cycles of both together. Slices and the return path overlap like two memories that are nearly equally
/// busy.
[[nodiscard]] inline hw::Cycles together(const AtomicTime& time, const hw::Gpu& gpu) {
    const std::array<double, 2> both{(time.mean + time.beyond).value(), time.back.value()};
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
