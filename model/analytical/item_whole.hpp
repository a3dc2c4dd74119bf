// What is settled once all roles of an item are counted.
// Ignores: the order in which a server takes its parts' requests.
// Source: model/kernel/README.md, meaning 2 and 4; recorded loops of kernels for unaligned rows, whose times
// are those of narrow loads and shared memory together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/item.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// The prologue copies what the first trips multiply. These copies are asked for before the loop and served
/// during the loop, so every trip bears a part.
inline void fold_prologue(ItemDemand& item) {
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        // Addresses are computed before the loop.
        if (machine::of_sub_partition(static_cast<machine::Server>(i))) continue;
        item.loop.demand.cycles[i] += item.before.demand.cycles[i] / item.trips;
        item.before.demand.cycles[i] = hw::Cycles{};
    }
    item.loop.copied += item.before.copied / item.trips;
    item.before.copied = hw::Cycles{};
}

/// Loads of rows and shared memory take turns on the path to one array. So the L1 of such an item is busy
/// with both. Copies of whole rows beside gathered elements bypass the path, except for their writes. Copies
/// beside words and bytes that are turned do not bypass the path. Source: docs/mechanisms/evidence.md.
inline void share_array(ItemDemand& item) {
    for (machine::Part* part : {&item.before, &item.loop, &item.after}) {
        const hw::Cycles way_in = part->demand[machine::Server::l1];
        hw::Cycles array = part->demand[machine::Server::shared];
        if (item.gathers) array += part->demand[machine::Server::shared_write];
        const hw::Cycles aside = item.gathers ? part->copied : hw::Cycles{};
        part->demand[machine::Server::l1] = std::max(way_in, way_in - aside + array);
    }
}

/// Plain loads and stores take the path that shared memory is read by. Source: counter
/// l1tex__data_pipe_lsu_wavefronts of validate/recorded/h200-sxm/kernels.
inline void share_data_path(ItemDemand& item) {
    for (machine::Part* part : {&item.before, &item.loop, &item.after}) {
        part->demand[machine::Server::shared] += part->global_passes;
    }
}

}  // namespace warptime::model::analytical
