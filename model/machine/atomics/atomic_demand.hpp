// Demand of an atomic access to global memory on an item's SM and on the L2.
// Operands leave the SM with a sector of address and kind ahead of each line. The slices carry out the
// passes, and old values come back.
// Ignores: operands that share a word (a whole word goes out for each lane).
// Source: microbench_atomics atomic_global.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/atomics/atomics.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/part.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/l1/access_demand.hpp"
#include "model/machine/l2/crossbar.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Latency until one instruction's old values are back: that of a load, more for an atomic, and its own
/// passes.
[[nodiscard]] inline hw::Cycles atomic_latency(const kernel::Kernel& kernel, const kernel::Op& op,
                                               const hw::Cycles& load, const hw::Gpu& gpu) {
    hw::Cycles passes{};
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        const AtomicTouch touch = atomic_touch(kernel, access, op.active, pieces_of(gpu));
        passes += slice_cycles(touch.whole, touch.part, gpu) / touch.lines;
    }
    return load + gpu.instructions[op.cls].latency + passes;
}

/// Adds `instructions` of an op with an atomic access, all in this part of the item. `trips`: times that the
/// part runs.
inline void add_atomic(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op,
                       const kernel::Access& access, double instructions, double trips, const hw::Gpu& gpu,
                       Part& part, BufferTraffic& traffic) {
    const AtomicTouch touch = atomic_touch(kernel, access, op.active, pieces_of(gpu));
    const double sector = gpu.l1.sector.value();
    const bool single =
        access.pattern == kernel::PatternKind::broadcast || access.pattern == kernel::PatternKind::chase;
    const double payload = 32.0 * op.active * access.bytes;
    const double sent = instructions * (payload + touch.lines * sector);
    const double changed = instructions * (single ? access.bytes : touch.passes() * sector);
    note_dependence(kernel::origin_of(kernel, access), traffic);
    traffic.written_bytes += trips * changed;
    const double turns = trips * instructions;
    note_scattered_writes(kernel, access, turns * touch.lines, turns * touch.sectors, gpu, traffic);
    if (access.pattern == kernel::PatternKind::listed) {
        const double opened = turns * std::min(touch.lines * gpu.l1.line.value(),
                                               touch.sectors * gpu.dram.access_bytes.value());
        traffic.read_bytes += opened;
        note_scattered(kernel, access, turns * touch.lines, opened, turns * payload, 1.0, pieces_of(gpu),
                       traffic);
    } else {
        traffic.read_bytes += trips * changed;
    }
    part.sent_bytes += sent;
    part.demand[Server::crossbar_write] += crossbar_write_cycles(sent, gpu);
    AtomicTraffic& atomics = traffic.atomics;
    const double all = trips * instructions;
    atomics.whole += all * touch.whole;
    atomics.part += all * touch.part;
    atomics.changed += trips * changed;
    atomics.returned += op.returns ? all * touch.passes() : 0.0;
    atomics.ordered += adds_in_float(op.dtype) ? all * touch.passes() : 0.0;
    const Window window = atomic_window(kernel, role, op, access, items_at_work(kernel, gpu));
    atomics.window =
        atomics.whole + atomics.part > all * touch.passes() ? atomics.window.with(window) : window;
    atomics.sectors = atomic_sectors(kernel, access, atomics.window.bytes(), pieces_of(gpu));
    atomics.waiting = touch.waiting(atomics.sectors);
    // Accesses that go to different words of a buffer are taken to meet in its fullest slice.
    atomics.skewed += all * touch.passes() * access.skew;
    if (op.returns) {
        const double received = instructions * touch.passes() * sector;
        part.received_bytes += received;
        part.demand[Server::crossbar_read] += crossbar_read_cycles(received, gpu);
    }
}

}  // namespace warptime::model::machine
