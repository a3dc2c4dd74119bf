// Warps that make an access of a box: each its own box, or the warps of a role one box together.
// Ignores: how sharing warps split a box (each takes an equal part).
// Source: README.md, Accesses. A load of a tile is written as one box; a warp's own part has a warp term.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstddef>
#include <cstdint>

namespace warptime::model::kernel {

/// Variables that expressions depend on.
class VariableSet {
  public:
    void add(Variable variable) { bits_ |= 1U << static_cast<unsigned>(variable); }
    void add(VariableSet others) { bits_ |= others.bits_; }
    [[nodiscard]] bool has(Variable variable) const {
        return (bits_ >> static_cast<unsigned>(variable) & 1U) != 0;
    }
    /// True if the variables tell the warps of an instance apart.
    [[nodiscard]] bool tells_warps() const {
        return has(Variable::warp) || has(Variable::thread_x) || has(Variable::thread_y) ||
               has(Variable::thread_z);
    }

  private:
    std::uint32_t bits_ = 0;
};

/// Variables of the nested expression number `id`.
[[nodiscard]] VariableSet variables_of_nested(const Kernel& kernel, std::size_t id);

[[nodiscard]] inline VariableSet variables_of(const Kernel& kernel, const Index& index) {
    VariableSet result;
    for (std::size_t t = index.first, end = t + index.count; t < end; ++t) {
        const Term& term = kernel.terms[t];
        result.add(term.variable);
        if (term.variable < Variable::nested) continue;
        for (std::uint32_t n = 0; n < nested_count(term.variable); ++n) {
            result.add(variables_of_nested(kernel, term.position + n));
        }
    }
    return result;
}

/// True if `when` selects some warps of the role.
[[nodiscard]] inline bool is_elected(const Kernel& kernel, const Op& op) {
    if (!op.when.active) return false;
    const VariableSet when = variables_of(kernel, op.when.value);
    return when.tells_warps() || when.has(Variable::instance);
}

/// `together`: the warps of a role move the box once. It is a box in global memory, its origin has no warp
/// term, and `when` elects no warp. All instances share the box, or (`each_instance`) each moves one. Matrix
/// instructions read their own operands and never share a box.
struct BoxShare {
    bool together = false;
    bool each_instance = false;

    /// True at the first of the warps that share the box; true for a box of its own.
    [[nodiscard]] bool counted_at(std::int32_t instance, std::int32_t warp) const {
        return !together || (warp == 0 && (each_instance || instance == 0));
    }
    /// Warps that share one box.
    [[nodiscard]] std::int32_t warps(const Role& role) const {
        return !together ? 1 : (each_instance ? role.warps : role.warps * role.instances);
    }
};
/// `origin`: the variables of the access's origin.
[[nodiscard]] inline BoxShare box_share(const Kernel& kernel, const Role& role, const Op& op,
                                        const Access& access, VariableSet origin) {
    if (access.pattern != PatternKind::collective || hw::is_group_product(op.cls) ||
        kernel.buffers[static_cast<std::size_t>(access.buffer)].space != Space::global ||
        is_elected(kernel, op)) {
        return {};
    }
    return {!origin.tells_warps(), role.alternate || origin.has(Variable::instance)};
}
[[nodiscard]] inline BoxShare box_share(const Kernel& kernel, const Role& role, const Op& op,
                                        const Access& access) {
    VariableSet origin;
    for (std::size_t d = 0; d < access.rank; ++d) {
        origin.add(variables_of(kernel, access.origin[d]));
    }
    return box_share(kernel, role, op, access, origin);
}

}  // namespace warptime::model::kernel
