// What an atomic access to global memory asks of one item's SM and of the L2: its operands leave the SM with
// a sector of address and kind ahead of each line, its passes are the slices', and what returns comes back.
// Ignores: operands that another lane's take along (a whole word goes out for each lane).
// Source: recorded rows of microbench_atomics atomic_global: one SM sends 128 bytes of additions every 5.3
// cycles, 256 every 10.3, and all SMs together every 9.2 and 18.7, 32 bytes a line more than plain stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/crossbar.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/memory/atomics.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// Until the old values of one instruction are back: what it takes beyond a load, and its own passes.
template <class S>
[[nodiscard]] hw::Cycles<S> atomic_latency(const kernel::Kernel& kernel, const kernel::Op& op,
                                           const hw::Cycles<S>& load, const hw::Gpu<S>& gpu) {
    hw::Cycles<S> passes{};
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        const memory::AtomicTouch touch =
            memory::atomic_touch(kernel, access, op.active, memory::pieces_of(gpu));
        passes += memory::slice_cycles(touch.whole, touch.part, gpu) / S(touch.lines);
    }
    return load + gpu.instructions[op.cls].latency + passes;
}

/// Adds `instructions` of an op with an atomic access, all of them in this part of the item; `trips`: times
/// that the part runs.
template <class S>
void add_atomic(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op,
                const kernel::Access& access, double instructions, double trips, const hw::Gpu<S>& gpu,
                Part<S>& part, BufferTraffic& traffic) {
    const memory::AtomicTouch touch = memory::atomic_touch(kernel, access, op.active, memory::pieces_of(gpu));
    const double sector = hw::value_of(gpu.l1.sector);
    const bool single =
        access.pattern == kernel::PatternKind::broadcast || access.pattern == kernel::PatternKind::chase;
    const double payload = 32.0 * op.active * access.bytes;
    const double sent = instructions * (payload + touch.lines * sector);
    const double changed = instructions * (single ? access.bytes : touch.passes() * sector);
    note_dependence(origin_of(kernel, access), traffic);
    traffic.sent_bytes += trips * instructions * payload;
    traffic.read_bytes += trips * changed;
    traffic.written_bytes += trips * changed;
    part.sent_bytes += sent;
    part.demand[Server::crossbar_write] += crossbar_write_cycles(S(sent), gpu);
    AtomicTraffic& atomics = traffic.atomics;
    const double all = trips * instructions;
    atomics.whole += all * touch.whole;
    atomics.part += all * touch.part;
    atomics.changed += trips * changed;
    atomics.returned += op.returns ? all * touch.passes() : 0.0;
    atomics.ordered += memory::adds_in_float(op.dtype) ? all * touch.passes() : 0.0;
    const occupancy::Occupancy resident = occupancy::residency(kernel, occupancy::limits_of(gpu));
    const double concurrent = std::min(static_cast<double>(kernel.schedule.item_count()),
                                       hw::value_of(gpu.sm.count) * resident.ctas_per_sm);
    const memory::Window window = memory::atomic_window(kernel, role, op, access, concurrent);
    atomics.window =
        atomics.whole + atomics.part > all * touch.passes() ? atomics.window.with(window) : window;
    atomics.sectors = memory::atomic_sectors(kernel, access, atomics.window.bytes(), memory::pieces_of(gpu));
    atomics.waiting = touch.waiting(atomics.sectors);
    if (op.returns) {
        const double received = instructions * touch.passes() * sector;
        part.received_bytes += received;
        part.demand[Server::crossbar_read] += crossbar_read_cycles(S(received), gpu);
    }
}

}  // namespace warptime::model::analytical
