// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/precision.hpp"

#include "bindings/advice/transforms/index_edit.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using hw::Dtype;
using hw::InstructionClass;

bool is_addressed(const Access& access) {
    return access.pattern == mk::PatternKind::contiguous || access.pattern == mk::PatternKind::stride ||
           access.pattern == mk::PatternKind::broadcast || access.pattern == mk::PatternKind::listed;
}

bool can_halve(const Kernel& kernel) {
    return std::all_of(kernel.accesses.begin(), kernel.accesses.end(), [&](const Access& access) {
        const mk::Space space = space_of(kernel, access);
        if (space != mk::Space::global && space != mk::Space::shared) return true;
        return is_addressed(access) && access.rank == 1 && access.bytes >= 2 &&
               element_bytes(kernel, access) == 1;
    });
}

void halve_op(Op& op) {
    constexpr std::array single{InstructionClass::fma_f32, InstructionClass::add_f32,
                                InstructionClass::mul_f32};
    if (std::find(single.begin(), single.end(), op.cls) != single.end() && op.count >= 1) {
        op.cls = InstructionClass::fma_f16x2;
        op.count = (op.count + 1) / 2;
        op.chain = std::min(op.chain, op.count);
        return;
    }
    const bool matrix = op.cls == InstructionClass::mma_sync || op.cls == InstructionClass::wgmma;
    if (matrix && (op.dtype == Dtype::bf16 || op.dtype == Dtype::fp16)) {
        op.dtype = op.cls == InstructionClass::wgmma ? Dtype::fp8 : Dtype::int8;
        op.shape[2] *= 2;
        op.count = (op.count + 1) / 2;
        op.chain = std::min(op.chain, op.count);
    }
}

}  // namespace

bool halve_elements(Kernel& kernel) {
    const bool any = std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [&](const Access& access) {
        return space_of(kernel, access) == mk::Space::global && access.bytes >= 4;
    });
    if (!any || !can_halve(kernel)) return false;
    for (mk::Buffer& buffer : kernel.buffers) {
        const bool held = buffer.space == mk::Space::global || buffer.space == mk::Space::shared;
        if (held && buffer.rank == 1) buffer.extent[0] = (buffer.extent[0] + 1) / 2;
    }
    for (Access& access : kernel.accesses) {
        const mk::Space space = space_of(kernel, access);
        if (space != mk::Space::global && space != mk::Space::shared) continue;
        access.bytes /= 2;
        access.inner = access.pattern == mk::PatternKind::stride ? access.inner / 2 : access.inner;
        access.outer /= 2;
        access.step /= 2;
        std::vector<Term> terms = terms_of(kernel, access.origin[0]);
        for (Term& term : terms) {
            term.coefficient = term.coefficient % 2 == 0 ? term.coefficient / 2 : term.coefficient;
        }
        access.origin[0] = add_index(kernel, access.origin[0].constant / 2, terms);
        if (access.pattern == mk::PatternKind::listed) {
            const std::size_t first = kernel.address_list.size();
            for (std::uint32_t i = 0; i < access.pool_length; ++i) {
                const std::int64_t at = kernel.address_list[access.pool_first + i];
                kernel.address_list.push_back(at < 0 ? at : at / 2);
            }
            access.pool_first = static_cast<std::uint32_t>(first);
        }
    }
    kernel.static_shared = (kernel.static_shared + 1) / 2;
    kernel.dynamic_shared = (kernel.dynamic_shared + 1) / 2;
    for (Op& op : kernel.ops) halve_op(op);
    return true;
}

bool align_rows(Kernel& kernel) {
    constexpr std::int64_t line = 128;
    constexpr std::int64_t sector = 32;
    const auto up = [](std::int64_t bytes) { return (bytes + line - 1) / line * line; };
    bool changed = false;
    std::vector<double> growth(kernel.buffers.size(), 1.0);
    for (Access& access : kernel.accesses) {
        if (space_of(kernel, access) != mk::Space::global || access.pattern != mk::PatternKind::contiguous ||
            access.rank != 1) {
            continue;
        }
        const std::int64_t element = element_bytes(kernel, access);
        std::vector<Term> terms = terms_of(kernel, access.origin[0]);
        bool moved = false;
        double& grown = growth[static_cast<std::size_t>(access.buffer)];
        for (Term& term : terms) {
            const std::int64_t bytes = std::abs(term.coefficient) * element;
            if (bytes < line || bytes % sector == 0) continue;
            const double factor = static_cast<double>(up(bytes)) / static_cast<double>(bytes);
            grown = std::max(grown, factor);
            term.coefficient = (term.coefficient < 0 ? -1 : 1) * up(bytes) / element;
            moved = true;
        }
        std::int64_t constant = access.origin[0].constant;
        // A few elements off the beginning of a line, as halos and offset copies are.
        const std::int64_t off = ((constant * element) % sector + sector) % sector;
        if (off != 0 && access.bytes <= 16) {
            constant -= off / element;
            moved = true;
        }
        if (!moved) continue;
        access.origin[0] = add_index(kernel, std::max<std::int64_t>(0, constant), terms);
        access.reuse = 0;
        changed = true;
    }
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        mk::Buffer& buffer = kernel.buffers[b];
        if (growth[b] > 1.0 && buffer.rank == 1) {
            buffer.extent[0] =
                static_cast<std::int64_t>(static_cast<double>(buffer.extent[0]) * growth[b]) + line;
        }
    }
    return changed;
}

}  // namespace warptime::advice
