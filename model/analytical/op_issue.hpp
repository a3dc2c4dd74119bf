// How long one instruction keeps its warp from issuing the next, and what it takes of the way to the banks.
// Ignores: other warps of the sub-partition. Source: recorded loads and stores with conflicts
// (microbench_bank_conflicts): one warp takes two cycles a pass, four warps one (key shared.pass_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "model/analytical/bounds/shared.hpp"
#include "model/analytical/op_kind.hpp"
#include "model/kernel/matrix_work.hpp"
#include "model/memory/atomics.hpp"
#include "model/memory/lane_touch.hpp"
#include "model/memory/matrix_rows.hpp"

namespace warptime::model::analytical {

/// Passes over the banks of one shared-memory instruction that names its lanes' addresses.
template <class S>
[[nodiscard]] double shared_passes(const kernel::Op& op, const kernel::Access& access,
                                   const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    if (access.direction == kernel::Direction::atomic) {
        return memory::bank_passes(kernel, op, access, memory::pieces_of(gpu));
    }
    if (access.pattern == kernel::PatternKind::contiguous) {
        return std::max(1.0, hw::value_of(shared_cycles(S(32.0 * access.bytes), gpu).value()));
    }
    return memory::touch_of(kernel, access, op.active, memory::pieces_of(gpu)).passes;
}

/// Whether an op of the same trip needs what this one brings: else it queues, and the warp goes on.
[[nodiscard]] inline bool waited_for(const kernel::Kernel& kernel, std::size_t id) {
    for (const kernel::Op& op : kernel.ops) {
        for (std::uint8_t d = 0; d < op.dep_count; ++d) {
            if (op.deps[d].op == static_cast<kernel::Id>(id) && op.deps[d].distance == 0) return true;
        }
    }
    return false;
}

/// Of a sub-partition's way to the banks.
template <class S>
[[nodiscard]] hw::Cycles<S> path_cycles(double passes, const hw::Gpu<S>& gpu) {
    return gpu.shared.pass_interval * S(passes);
}

/// Until the result of an op that stays within its SM is there; `warps`: of the CTA.
template <class S>
[[nodiscard]] hw::Cycles<S> latency_in_sm(const kernel::Op& op, const kernel::Kernel& kernel, int warps,
                                          const hw::Gpu<S>& gpu) {
    const hw::InstructionCost<S>& cost = gpu.instructions[op.cls];
    if (memory::moves_matrices(op)) {
        const std::int64_t passes = memory::matrix_rows(kernel, op).passes;
        return gpu.latency.shared + cost.interval * S(static_cast<double>(passes - 1));
    }
    if (is_shared(op.cls)) {
        const bool counted = op.cls == hw::InstructionClass::atom_shared && !op.returns;
        return counted ? hw::Cycles<S>{} : gpu.latency.shared + cost.latency;
    }
    if (op.cls == hw::InstructionClass::mma_sync) {
        return kernel::mma_sync_latency(op, gpu);
    }
    if (is_meeting(op.cls)) {
        // The warps arrive one after another.
        const hw::Cycles<S> base =
            op.cls == hw::InstructionClass::bar_sync ? gpu.latency.bar_sync : hw::Cycles<S>(cost.latency);
        return base + cost.interval * S(static_cast<double>(warps));
    }
    return cost.latency;
}

/// Cycles from one instruction of an op to the next of the same warp. A wgmma is queued at the tensor cores.
template <class S>
[[nodiscard]] hw::Cycles<S> issue_interval(const kernel::Op& op, const kernel::Kernel& kernel,
                                           const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> slot(S(1.0));
    const hw::InstructionCost<S>& cost = gpu.instructions[op.cls];
    if (op.cls == hw::InstructionClass::mma_sync) {
        // Shared by the machine instructions that it is.
        const S held = gpu.tensor.mma_sync_issue.value() / cost.machine.value();
        return hw::max(kernel::matrix_interval(op, gpu) * held, slot);
    }
    if (memory::moves_matrices(op)) {
        const std::int64_t passes = memory::path_passes(op, memory::matrix_rows(kernel, op));
        return cost.interval * S(static_cast<double>(passes));
    }
    return op.cls == hw::InstructionClass::wgmma || is_meeting(op.cls) ? slot : hw::max(cost.interval, slot);
}

/// What matrices' way from shared memory to the registers of all `warps` takes beyond `own`, the issue of one
/// of them.
template <class S>
[[nodiscard]] hw::Cycles<S> others_read(const kernel::Kernel& kernel, const kernel::Op& op, int warps,
                                        const hw::Cycles<S>& own) {
    const auto passes = static_cast<double>(memory::matrix_rows(kernel, op).passes);
    const hw::Cycles<S> all(S(passes * static_cast<double>(op.count) * warps));
    return hw::max(hw::Cycles<S>{}, all - own);
}

}  // namespace warptime::model::analytical
