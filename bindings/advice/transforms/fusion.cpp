// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/fusion.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/index_edit.hpp"

#include <algorithm>

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
    bool plain = kernel.loops.empty() && kernel.tokens.empty();
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
    remove_ops(kernel, [&](const Op& op) {
        return drop[static_cast<std::size_t>(&op - kernel.ops.data())];
    });
    return true;
}

bool multiply_by_matrices(Kernel& kernel) {
    constexpr std::int64_t products_of_matrix = 16 * 8 * 8;
    bool changed = false;
    std::vector<bool> from_shared(kernel.ops.size(), false);
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        if (op.cls == InstructionClass::ld_shared) from_shared[i] = true;
        std::vector<std::size_t> loads;
        for (const mk::Dep& dep : kernel.deps_of(op)) {
            const auto from = static_cast<std::size_t>(dep.op);
            if (from < i && from_shared[from]) loads.push_back(from);
        }
        if (op.cls != InstructionClass::fma_f32 || loads.size() < 2) continue;
        const std::int64_t products = op.count * lanes_per_warp;
        op.cls = InstructionClass::mma_sync;
        op.dtype = hw::Dtype::tf32;
        op.shape = {16, 8, 8};
        op.count = std::max<std::int64_t>(1, products / products_of_matrix);
        op.chain = 1;
        // Each fragment serves a whole row or column of products.
        for (const std::size_t load : loads) {
            kernel.ops[load].count = std::max<std::int64_t>(1, kernel.ops[load].count / 8);
        }
        changed = true;
    }
    return changed;
}

}  // namespace warptime::advice
