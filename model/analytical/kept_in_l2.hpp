// What the CTAs at work keep in the L2 of bytes that they read again.
// All CTAs go through as much as each one does, so a CTA has its part of the L2. Bytes that CTAs share are
// kept by each other's reads. Ignores: stores, and CTAs that share a part of their bytes. Source: stack
// distances (Mattson et al., IBM Systems Journal 9(2), 1970, doi.org/10.1147/sj.92.0078), as many at a time
// as CTAs are at work; rows: docs/mechanisms/l2.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/access_origin.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/l1_share.hpp"
#include "model/machine/l1/local_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace warptime::model::analytical {

/// Whether the places of an access follow no order.
[[nodiscard]] inline bool is_scattered(const kernel::Access& access) {
    return access.pattern == kernel::PatternKind::listed || access.pattern == kernel::PatternKind::random;
}

/// Whether each CTA has bytes of its own: the place depends on all coordinates of its tile.
[[nodiscard]] inline bool own_slice(const kernel::Kernel& kernel, const kernel::Access& access) {
    if (is_scattered(access)) return false;
    const kernel::AccessOrigin origin = kernel::origin_of(kernel, access);
    const auto& tiles = kernel.schedule.tiles;
    return (tiles[0] <= 1 || origin.along_m) && (tiles[1] <= 1 || origin.along_n) &&
           (std::max(tiles[2], tiles[3]) <= 1 || origin.along_batch);
}

/// Bytes that the L2 holds for each CTA at work; no limit where it holds all that the kernel reaches.
/// `resident`: CTAs of an SM.
[[nodiscard]] inline double l2_room(const kernel::Kernel& kernel, std::int64_t resident, const hw::Gpu& gpu) {
    const double ctas = std::min(static_cast<double>(kernel.schedule.item_count()),
                                 gpu.sm.count.value() * static_cast<double>(resident));
    double reached = 0.0;
    for (const kernel::Buffer& buffer : kernel.buffers) {
        if (buffer.space == kernel::Space::global) reached += machine::bytes_in_use(buffer, ctas);
    }
    const double usable = gpu.l2.capacity.value() * gpu.l2.usable.value();
    return reached > usable ? usable / ctas : std::numeric_limits<double>::max();
}

/// Share of an access's sectors that its CTA has read before and finds in the L2 at least. `room`: l2_room.
[[nodiscard]] inline double kept_in_l2(const kernel::Kernel& kernel, const kernel::Access& access,
                                       double room) {
    if (access.reuse == 0) return 0.0;
    const kernel::Reuse& reuse = kernel.reuse[access.reuse - 1U];
    return own_slice(kernel, access) ? machine::kept_by(reuse.sectors, room) : reuse.sectors.back();
}

}  // namespace warptime::model::analytical
