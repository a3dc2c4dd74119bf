// What is settled once all roles of an item are counted.
// Ignores: the order in which a server takes what its parts ask. Source: KERNEL, meaning 2 and 4; recorded
// loops of kernels for unaligned rows, whose times are those of narrow loads and shared memory together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/item_demand.hpp"

namespace warptime::model::analytical {

/// What the prologue copies is what the first trips multiply: it is asked for before the loop and served
/// while the loop runs, so that every trip bears its part.
template <class S>
void fold_prologue(ItemDemand<S>& item) {
    for (std::size_t i = 0; i < server_count; ++i) {
        // The addresses are computed before.
        if (of_sub_partition(static_cast<Server>(i))) continue;
        item.loop.demand.cycles[i] += item.before.demand.cycles[i] / S(item.trips);
        item.before.demand.cycles[i] = hw::Cycles<S>{};
    }
    item.loop.copied += item.before.copied / S(item.trips);
    item.before.copied = hw::Cycles<S>{};
}

/// Loads of rows and shared memory take the path to the one array in turn: the L1 of such an item is busy
/// with both. Copies of whole rows beside gathered elements pass it by, but for what they write; beside words
/// and bytes that are turned they do not (triton_tf32 and triton_int8, wgmma: 17 and 23 % too fast if they
/// did). Source: narrow rows as STORIES tells; whole lanes' rows of triton_warps with one stage (32x32x64,
/// eight warps: 380 cycles a trip, of which shared memory has 258 and the loads 146).
template <class S>
void share_array(ItemDemand<S>& item) {
    for (Part<S>* part : {&item.before, &item.loop, &item.after}) {
        const hw::Cycles<S> way_in = part->demand[Server::l1];
        hw::Cycles<S> array = part->demand[Server::shared];
        if (item.gathers) array += part->demand[Server::shared_write];
        const hw::Cycles<S> aside = item.gathers ? part->copied : hw::Cycles<S>{};
        part->demand[Server::l1] = hw::max(way_in, way_in - aside + array);
    }
}

}  // namespace warptime::model::analytical
