// Which warps make an access of a box: each its own, or the warps of a role one box together.
// Ignores: how the box is split among the warps that share it (each takes an equal part).
// Source: README.md, Accesses. A load of a tile is written as one box; a warp's own part has a warp term.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::kernel {

/// What an expression depends on, among the coordinates that tell the warps of a CTA apart.
struct WarpDependence {
    bool on_warp = false;  ///< within the role: terms `warp` and `thread`
    bool on_instance = false;
};
[[nodiscard]] WarpDependence warp_dependence(const Kernel& kernel, const Index& index);

/// Whether `when` picks some warps of the role out.
[[nodiscard]] bool is_elected(const Kernel& kernel, const Op& op);

/// `together`: a box in global memory whose origin has no warp term, of an op that no warp is elected for. It
/// is moved once by the warps of the role, of all instances or (`each_instance`) of each. Matrix instructions
/// read their own operands, so theirs never are.
struct BoxShare {
    bool together = false;
    bool each_instance = false;

    /// Whether the first warp of those that share the box is the one given; true for a box of its own.
    [[nodiscard]] bool counted_at(std::int32_t instance, std::int32_t warp) const {
        return !together || (warp == 0 && (each_instance || instance == 0));
    }
    /// Warps that share one box.
    [[nodiscard]] std::int32_t warps(const Role& role) const {
        return !together ? 1 : (each_instance ? role.warps : role.warps * role.instances);
    }
};
[[nodiscard]] BoxShare box_share(const Kernel& kernel, const Role& role, const Op& op, const Access& access);

}  // namespace warptime::model::kernel
