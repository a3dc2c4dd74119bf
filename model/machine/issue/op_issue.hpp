// Cycles for which one instruction blocks its warp's next issue, and its use of the path to the banks.
// Ignores: other warps of the sub-partition.
// Source: loads and stores with conflicts (microbench_bank_conflicts, key shared.pass_interval). One warp
// takes two cycles a pass, four warps one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/matrix_work.hpp"
#include "model/machine/atomics/atomics.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/shared/matrix_rows.hpp"
#include "model/machine/shared/shared.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace warptime::model::machine {

/// Passes over the banks of one shared-memory instruction that names its lanes' addresses.
[[nodiscard]] inline double shared_passes(const kernel::Op& op, const kernel::Access& access,
                                          const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    if (access.direction == kernel::Direction::atomic) {
        return bank_passes(kernel, op, access, pieces_of(gpu));
    }
    if (access.pattern == kernel::PatternKind::contiguous) {
        return std::max(1.0, shared_cycles(32.0 * access.bytes, gpu).value());
    }
    return touch_of(kernel, access, op.active, pieces_of(gpu)).passes;
}

/// Marks the ops whose results other ops of the same trip need. Ops that are not marked queue, and their
/// warp goes on. `marks`: room for all ops.
inline void mark_waited_for(const kernel::Kernel& kernel, std::span<bool> marks) {
    std::fill(marks.begin(), marks.end(), false);
    for (const kernel::Op& op : kernel.ops) {
        for (const kernel::Dep& dep : kernel.deps_of(op)) {
            if (dep.distance == 0 && dep.op >= 0) marks[static_cast<std::size_t>(dep.op)] = true;
        }
    }
}

/// Cycles of a sub-partition's path to the banks.
[[nodiscard]] inline hw::Cycles path_cycles(double passes, const hw::Gpu& gpu) {
    return gpu.shared.pass_interval * passes;
}

/// Latency of an op that stays within its SM. `warps`: warps of the CTA. Sleeps are counted in cycles of the
/// highest clock.
[[nodiscard]] inline hw::Cycles latency_in_sm(const kernel::Op& op, const kernel::Kernel& kernel, int warps,
                                              const hw::Gpu& gpu) {
    const hw::InstructionCost& cost = gpu.instructions[op.cls];
    if (moves_matrices(op)) {
        const double passes = matrix_rows(kernel, op, banks_of(gpu)).passes;
        return gpu.latency.shared + cost.interval * (passes - 1.0);
    }
    if (is_shared(op.cls)) {
        const bool counted = op.cls == hw::InstructionClass::atom_shared && !op.returns;
        return counted ? hw::Cycles{} : gpu.latency.shared + cost.latency;
    }
    if (op.cls == hw::InstructionClass::mma_sync) {
        return kernel::mma_sync_latency(op, gpu);
    }
    if (is_meeting(op.cls)) {
        // The warps arrive one after another.
        const hw::Cycles base =
            op.cls == hw::InstructionClass::bar_sync ? gpu.latency.bar_sync : cost.latency;
        return base + cost.interval * static_cast<double>(warps);
    }
    if (op.cls == hw::InstructionClass::nanosleep) {
        return cost.latency + hw::Seconds(op.asleep / hw::ns_per_s) * gpu.clock.boost;
    }
    return cost.latency;
}

/// Cycles from one instruction of an op to the next of the same warp. A wgmma is queued at the tensor cores.
[[nodiscard]] inline hw::Cycles issue_interval(const kernel::Op& op, const kernel::Kernel& kernel,
                                               const hw::Gpu& gpu) {
    const hw::Cycles slot(1.0);
    const hw::InstructionCost& cost = gpu.instructions[op.cls];
    if (op.cls == hw::InstructionClass::mma_sync) {
        // The op's machine instructions share this time.
        const double held = gpu.tensor.mma_sync_issue.value() / cost.machine.value();
        return std::max(kernel::matrix_interval(op, gpu) * held, slot);
    }
    if (moves_matrices(op)) {
        return cost.interval * path_passes(op, matrix_rows(kernel, op, banks_of(gpu)));
    }
    return hw::is_group_product(op.cls) || is_meeting(op.cls) ? slot : std::max(cost.interval, slot);
}

/// Cycles that the matrices of all `warps` need from shared memory to registers, beyond `own`, one warp's
/// issue.
[[nodiscard]] inline hw::Cycles others_read(const kernel::Kernel& kernel, const kernel::Op& op, int warps,
                                            const hw::Cycles& own, const hw::Gpu& gpu) {
    const double passes = matrix_rows(kernel, op, banks_of(gpu)).passes;
    const hw::Cycles all(passes * static_cast<double>(op.count) * warps);
    return std::max(hw::Cycles{}, all - own);
}

}  // namespace warptime::model::machine
