// Warps of a CTA, the place of each in its role, and its actions at a place of its body.
// Source: model/kernel/walk.hpp, whose rules these are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/body_cursor.hpp"
#include "model/kernel/walk_tokens.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

struct WarpPlace {
    std::size_t role = 0;
    std::int32_t instance = 0;
    std::int32_t warp = 0;  ///< within the instance
    kernel::detail::TokenUser user;
};

/// Warps of a CTA, role by role, in the order of their numbers.
[[nodiscard]] std::vector<WarpPlace> warp_places(const kernel::Kernel& kernel);

/// True if the instance does the CTA's work item of this number; false if it passes over the item.
[[nodiscard]] inline bool performs(const kernel::Role& role, std::int32_t instance, std::int64_t item) {
    return !role.alternate || item % role.instances == instance;
}

[[nodiscard]] kernel::Coordinates coordinates_at(const kernel::Kernel& kernel, const WarpPlace& place,
                                                 const kernel::WorkItem& item, std::int64_t cta_rank);

/// Token that gets an arrival from the leaf under the cursor, or none.
[[nodiscard]] kernel::Id arrival_at(const kernel::Kernel& kernel, const kernel::BodyCursor& cursor,
                                    const kernel::Coordinates& at);

}  // namespace warptime::model::simulation
