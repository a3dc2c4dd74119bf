// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/fusion.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/index_edit.hpp"

#include <algorithm>
#include <array>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using hw::InstructionClass;

bool is_arithmetic(InstructionClass cls) {
    return cls == InstructionClass::fma_f32 || cls == InstructionClass::add_f32 ||
           cls == InstructionClass::mul_f32;
}

}  // namespace

bool fuse_with_producer(Kernel& kernel) {
    mk::Id first = mk::no_id;
    std::vector<bool> written(kernel.buffers.size(), false);
    constexpr auto few = 4;  // loads, so that the elements of a thread are still in registers
    const auto loads = std::count_if(kernel.ops.begin(), kernel.ops.end(),
                                     [](const Op& op) { return op.cls == InstructionClass::ld_global; });
    bool plain = kernel.loops.empty() && kernel.tokens.empty() && loads <= few;
    for (const Access& access : kernel.accesses) {
        plain = plain && space_of(kernel, access) != mk::Space::shared;
        if (space_of(kernel, access) != mk::Space::global) continue;
        plain = plain && (access.pattern == mk::PatternKind::contiguous ||
                          access.pattern == mk::PatternKind::broadcast ||
                          access.pattern == mk::PatternKind::collective);
        if (access.direction != mk::Direction::read) {
            written[static_cast<std::size_t>(access.buffer)] = true;
            continue;
        }
        if (first == mk::no_id && access.pattern != mk::PatternKind::broadcast) first = access.buffer;
    }
    if (!plain || first == mk::no_id || written[static_cast<std::size_t>(first)]) return false;
    const Kernel before = kernel;
    remove_ops(kernel, [&before, first](const Op& op) {
        const auto accesses = before.accesses_of(op);
        return op.cls == InstructionClass::ld_global &&
               std::any_of(accesses.begin(), accesses.end(),
                           [first](const Access& access) { return access.buffer == first; });
    });
    return true;
}

bool use_fast_functions(Kernel& kernel) {
    // What leads to a special function reduces its argument, and what follows corrects its result.
    std::vector<bool> from_function(kernel.ops.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        if (kernel.ops[i].cls == InstructionClass::mufu) {
            from_function[i] = any = true;
            continue;
        }
        for (const mk::Dep& dep : kernel.deps_of(kernel.ops[i])) {
            const auto from = static_cast<std::size_t>(dep.op);
            from_function[i] = from_function[i] || (from < i && from_function[from]);
        }
    }
    if (!any) return false;
    const Kernel before = kernel;
    std::vector<bool> drop(kernel.ops.size(), false);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        const Op& op = before.ops[i];
        const bool corrects = from_function[i] && is_arithmetic(op.cls);
        if (op.cls == InstructionClass::mufu) kept = 0;
        // One product stays behind each function, as __expf and __fdividef have it.
        if (corrects && kept++ > 0) drop[i] = true;
    }
    if (std::find(drop.begin(), drop.end(), true) == drop.end()) return false;
    remove_ops(kernel, [&](const Op& op) { return drop[static_cast<std::size_t>(&op - kernel.ops.data())]; });
    return true;
}

bool multiply_by_matrices(Kernel& kernel) {
    constexpr std::int64_t rows = 8, columns = 4;  // a warp's products become 32 times as many
    const mk::Schedule& schedule = kernel.schedule;
    if (schedule.kind != mk::ScheduleKind::one_per_cta || kernel.cluster.volume() != 1 ||
        schedule.tiles[0] < rows || schedule.tiles[1] < columns) {
        return false;
    }
    bool changed = false;
    std::vector<bool> loads(kernel.ops.size(), false);
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        loads[i] = op.cls == InstructionClass::ld_shared || op.cls == InstructionClass::ld_global;
        std::size_t operands = 0;
        for (const mk::Dep& dep : kernel.deps_of(op)) {
            const auto from = static_cast<std::size_t>(dep.op);
            operands += from < i && loads[from] ? std::size_t{1} : std::size_t{0};
        }
        const bool single = op.cls == InstructionClass::fma_f32;
        const bool words = op.cls == InstructionClass::mad_s32;  // four products of bytes
        if (operands < 2 || !(single || words)) continue;
        op.cls = InstructionClass::mma_sync;
        op.dtype = single ? hw::Dtype::tf32 : hw::Dtype::int8;
        op.shape = single ? std::array<std::int32_t, 3>{16, 8, 8} : std::array<std::int32_t, 3>{16, 8, 32};
        changed = true;
    }
    if (!changed) return false;
    // The same stream of instructions computes a tile that is so much larger: fragments take the place of
    // values.
    for (Access& access : kernel.accesses) {
        if (space_of(kernel, access) != mk::Space::global) continue;
        std::vector<Term> terms = terms_of(kernel, access.origin[0]);
        for (Term& term : terms) {
            if (term.variable == Variable::tile && term.position == 0) term.coefficient *= rows;
            if (term.variable == Variable::tile && term.position == 1) term.coefficient *= columns;
        }
        access.origin[0] = add_index(kernel, access.origin[0].constant, terms);
    }
    kernel.schedule.tiles[0] = (schedule.tiles[0] + rows - 1) / rows;
    kernel.schedule.tiles[1] = (schedule.tiles[1] + columns - 1) / columns;
    kernel.schedule.group = std::min(kernel.schedule.group, kernel.schedule.tiles[0]);
    kernel.grid.x = kernel.schedule.tiles[0];
    kernel.grid.y = kernel.schedule.tiles[1];
    kernel.cta_classes.clear();
    return true;
}

}  // namespace warptime::advice
