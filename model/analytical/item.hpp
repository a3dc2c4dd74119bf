// What one work item asks of every server, split into the parts before, in and after its main loop.
// Ignores: differences between items (edge tiles count at their average), and L1 hits on lines that another
// item read.
// Source: model/kernel/README.md, meaning 1-6.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/quantity.hpp"
#include "hw/small_vector.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/part.hpp"

#include <cstddef>

namespace warptime::model::analytical {

struct ItemDemand {
    machine::Part before, loop, after;
    double trips = 0.0;        ///< of the main loop
    bool alternating = false;  ///< consumer instances take items in turn: `after` hides behind the next item
    int alternating_instances = 1;
    /// Groups of warps that go round the same loop, each with products of its own (wgmma); 0 without such.
    int side_by_side = 0;
    bool uses_products = false;  ///< instructions of a trip compute with results of its matrix products
    bool in_turn = false;        ///< a token orders the instances, item by item
    bool asynchronous = false;   ///< loads of the loop run ahead of their use
    bool self_fed = false;       ///< the warps that multiply also issue the copies, in one instruction stream
    bool gathers = false;        ///< its stage is loaded element by element (machine/l1/row_lanes.hpp)
    bool loads_itself = false;   ///< warps that multiply, or stage in shared memory, load for themselves
    bool swaps_shared = false;   ///< warps wait for what atomics on shared memory give back
    machine::Demand peeled{};    ///< loop cycles of an item that roles with fewer trips do not take
    hw::Cycles copy_issue{};     ///< from the begin of a trip until its copies have been issued
    hw::Cycles until_wait{};     ///< from the begin of a trip to its wait for copies of earlier trips
    /// Time of all warps' reads before a trip's first copy, beyond one warp's reads.
    hw::Cycles others_read{};
    /// Time of products that a trip's copies wait for, or of the addition of their sums.
    hw::Cycles multiplied{};
    /// Asynchronous copies that a warp issues in a trip; 0 where the description of the loop names all that a
    /// trip needs of others, so that the chain has each copy's time.
    double copies = 0.0;
    double copies_along_k = 0.0;  ///< copies whose rows go on in the next trip
    /// The wait for copies of earlier trips stands right behind the issue of a trip's own copies.
    bool waits_behind_copies = false;
    hw::Cycles behind_copies{};    ///< from a trip's last copy to that wait
    double boxes_stored = 0.0;     ///< by the last op that stores, in a trip or an item
    double sent_per_stored = 1.0;  ///< bytes of whole sectors for each stored byte
    hw::Cycles hand_over{};  ///< from a look at a word that another CTA writes to the own word for the next
    hw::Cycles slowest{};    ///< path of the grid's slowest warp; 0 where warps do not differ
    hw::Cycles beyond{};     ///< part of `slowest` beyond the slowest warp of a mean CTA
    hw::Cycles longest{};    ///< what the longest item of a list takes behind its loop, beyond the mean item
    int warps = 0;
    bool uses_tensor = false;
    hw::Dtype tensor_dtype = hw::Dtype::bf16;
    /// By buffer id, as many as the kernel has.
    hw::SmallVector<machine::BufferTraffic, usual_buffers> buffers;

    /// trips x loop + before + after of a quantity.
    template <class Get>
    [[nodiscard]] double total(Get&& get) const {
        return get(before) + trips * get(loop) + get(after);
    }
};

}  // namespace warptime::model::analytical
