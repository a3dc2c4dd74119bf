// Atomics on global memory: the passes of all SMs over the sectors of the L2, on the slices that hold them;
// the turns that floating-point additions take on one sector; and the way back of the old values. Ignores:
// requests for other sectors that overtake a queue. Source: model/memory/atomics.hpp; recorded rows of
// microbench_atomics atomic_global, in which returning atomics of all SMs take longer than the others by what
// they return, while those on few lines do not. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/overlap.hpp"
#include "model/memory/atomics.hpp"
#include "model/memory/slice_order.hpp"

#include <array>
#include <span>

namespace warptime::model::analytical {

/// What a typical item's atomics ask of the L2 for one buffer.
struct AtomicTraffic {
    double whole = 0.0, part = 0.0;  ///< passes over sectors
    double returned = 0.0;           ///< of them with the old value
    double ordered = 0.0;            ///< of them that wait for the one before in their sector
    double changed = 0.0;            ///< bytes of the written ones that atomics change
    memory::Window window;           ///< in which those under way lie
    double sectors = 1.0;            ///< of the window
    double waiting = 0.0;            ///< requests for different ones of them that wait for one another
};

/// Cycles of the L2 for `items` items. Slices and the way back overlap as memories do that are nearly as busy
/// (32 and 30 us become 41 on 1024 lines).
template <class S>
[[nodiscard]] hw::Cycles<S> atomic_cycles(const AtomicTraffic& of_item, double items, const hw::Gpu<S>& gpu) {
    const S slices = memory::slices_reached(of_item.window, gpu);
    const hw::Cycles<S> busy =
        memory::slice_cycles(items * of_item.whole, items * of_item.part, gpu) / slices;
    const hw::Cycles<S> turns = gpu.l2.atomic_chain * S(items * of_item.ordered / of_item.sectors);
    const hw::Cycles<S> back = gpu.l2.atomic_return * S(items * of_item.returned) / gpu.sm.count.value();
    const S in_slices = of_item.waiting > 0.0 ? memory::in_order(busy.value(), turns.value(),
                                                                 of_item.waiting / hw::value_of(slices))
                                              : hw::max(busy, turns).value();
    const std::array<S, 2> both{in_slices, back.value()};
    return hw::Cycles<S>(overlapped(std::span<const S>(both), gpu.overlap.exponent.value()));
}

}  // namespace warptime::model::analytical
