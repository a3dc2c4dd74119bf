// Plan of an atomic access. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/atomic_plan.hpp"

#include "model/machine/atomics/atomics.hpp"
#include "model/machine/atomics/slice_order.hpp"

#include <algorithm>

namespace warptime::model::simulation {

AtomicPlan atomic_plan(const kernel::Kernel& kernel, const kernel::Op& op, const kernel::Access& access,
                       const machine::Window& window, const hw::Gpu& gpu) {
    const machine::AtomicTouch touch =
        machine::atomic_touch(kernel, access, op.active, machine::pieces_of(gpu));
    const double sector = gpu.l1.sector.value();
    const bool single =
        access.pattern == kernel::PatternKind::broadcast || access.pattern == kernel::PatternKind::chase;
    const double own = machine::slice_cycles(touch.whole, touch.part, gpu).value();
    const double sectors = machine::atomic_sectors(kernel, access, window.bytes(), machine::pieces_of(gpu));
    const double turns =
        machine::adds_in_float(op.dtype) ? gpu.l2.atomic_chain.value() * touch.passes() / sectors : 0.0;
    // Where the passes crowd in one slice, that one is at work the longest.
    const double reached = machine::slices_at_work(window, access.skew, gpu);
    const double waiting = touch.waiting(sectors);
    const double in_slices = waiting > 0.0 ? machine::in_order(own / reached, turns, waiting / reached)
                                           : std::max(own / reached, turns);
    const auto count = static_cast<double>(op.count);
    AtomicPlan plan;
    plan.sent_bytes = count * (32.0 * op.active * access.bytes + touch.lines * sector);
    plan.payload_bytes = count * 32.0 * op.active * access.bytes;
    plan.changed_bytes = count * (single ? access.bytes : touch.passes() * sector);
    plan.passed_bytes = count * touch.passes() * sector;
    plan.slices = count * in_slices;
    plan.fullest = count * own * access.skew / machine::slices_of(gpu);
    if (op.returns) {
        plan.returned_bytes = count * touch.passes() * sector;
        plan.returns = count * touch.passes() * gpu.l2.atomic_return.value() / gpu.sm.count.value();
    }
    // An answer comes back even where the old value is not used.
    plan.waits = op.returns || op.cls == hw::InstructionClass::atom_global;
    if (plan.waits) {
        plan.latency = gpu.instructions[op.cls].latency.value() + own / touch.lines;
    }
    return plan;
}

}  // namespace warptime::model::simulation
