// Warps of a CTA and arrivals of a leaf.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/warps.hpp"

namespace warptime::model::simulation {

using kernel::NodeKind;

std::vector<WarpPlace> warp_places(const kernel::Kernel& kernel) {
    std::vector<WarpPlace> places;
    for (std::size_t r = 0; r < kernel.roles.size(); ++r) {
        const kernel::Role& role = kernel.roles[r];
        for (std::int32_t i = 0; i < role.instances; ++i) {
            for (std::int32_t w = 0; w < role.warps; ++w) {
                places.push_back({r, i, w, {places.size(), i, role.alternate ? 1 : role.instances}});
            }
        }
    }
    return places;
}

kernel::Coordinates coordinates_at(const kernel::Kernel& kernel, const WarpPlace& place,
                                   const kernel::WorkItem& item, std::int64_t cta_rank) {
    kernel::Coordinates at = kernel::coordinates_of(item);
    at.cta_rank = cta_rank;
    at.warp = place.warp;
    at.instance = place.instance;
    const auto thread = static_cast<std::int64_t>(place.user.warp) * 32;
    at.thread[0] = thread % kernel.cta.x;
    at.thread[1] = thread / kernel.cta.x % kernel.cta.y;
    at.thread[2] = thread / kernel.cta.x / kernel.cta.y;
    return at;
}

kernel::Id arrival_at(const kernel::Kernel& kernel, const kernel::BodyCursor& cursor,
                      const kernel::Coordinates& at) {
    const kernel::Node& node = kernel.nodes[cursor.place().node];
    if (node.kind == NodeKind::signal) {
        return kernel.signals[node.payload].token;
    }
    if (node.kind == NodeKind::op) {
        const kernel::Op& op = kernel.ops[node.payload];
        if (op.completes != kernel::no_id && runs_here(kernel, op, cursor, at)) {
            return op.completes;
        }
    }
    return kernel::no_id;
}

}  // namespace warptime::model::simulation
