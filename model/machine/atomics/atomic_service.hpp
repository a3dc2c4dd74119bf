// Atomics on global memory: time of the L2 slices, of ordered floating-point additions, and of returned
// values. The slices that hold the sectors carry out the passes of all SMs.
// Ignores: requests for other sectors that overtake a queue.
// Source: atomics.hpp; microbench_atomics atomic_global.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/atomics/atomics.hpp"
#include "model/machine/atomics/slice_order.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/steady/overlap.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace warptime::model::machine {

/// Cycles of the L2 for `items` items. Slices and the return path overlap like two memories that are nearly
/// equally busy.
[[nodiscard]] inline hw::Cycles atomic_cycles(const AtomicTraffic& of_item, double items,
                                              const hw::Gpu& gpu) {
    const double slices = slices_reached(of_item.window, gpu);
    const hw::Cycles busy = slice_cycles(items * of_item.whole, items * of_item.part, gpu) / slices;
    const hw::Cycles turns = gpu.l2.atomic_chain * (items * of_item.ordered / of_item.sectors);
    const hw::Cycles back = gpu.l2.atomic_return * (items * of_item.returned) / gpu.sm.count.value();
    const double in_slices = of_item.waiting > 0.0
                                 ? in_order(busy.value(), turns.value(), of_item.waiting / slices)
                                 : std::max(busy, turns).value();
    const std::array<double, 2> both{in_slices, back.value()};
    return hw::Cycles(steady::overlapped(std::span<const double>(both), gpu.overlap.exponent.value()));
}

}  // namespace warptime::model::machine
