// What one work item asks of every server, split into the parts before, in and after its main loop.
// Ignores: differences between items (edge tiles count at their average), and L1 hits on what another item
// read. Source: model/kernel/README.md, meaning 1-6. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/inplace_vector.hpp"
#include "hw/quantity.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/part.hpp"

#include <cstddef>

namespace warptime::model::analytical {

inline constexpr std::size_t max_buffers = 16;

struct ItemDemand {
    machine::Part before, loop, after;
    double trips = 0.0;        ///< of the main loop
    bool alternating = false;  ///< consumer instances take items in turn: `after` hides behind the next item
    int alternating_instances = 1;
    bool in_turn = false;       ///< a token orders them, item by item
    bool asynchronous = false;  ///< loads of the loop run ahead of their use
    bool self_fed = false;      ///< the warps that multiply also issue the copies, in one instruction stream
    bool gathers = false;       ///< its stage is loaded element by element (memory/row_lanes.hpp)
    bool loads_itself = false;  ///< warps that multiply, or stage in shared memory, load for themselves
    bool keeps_local = false;   ///< warps load what they keep in local memory
    bool swaps_shared = false;  ///< warps wait for what atomics on shared memory give back
    machine::Demand peeled{};   ///< of the loop, cycles an item that roles with fewer trips do not take
    hw::Cycles copy_issue{};    ///< from the begin of a trip until its copies have been issued
    hw::Cycles until_wait{};    ///< from the begin of a trip to its wait for copies of earlier ones
    hw::Cycles others_read{};   ///< what all warps' reads before a trip's first copy take beyond a warp's
    hw::Cycles multiplied{};    ///< by products that a trip's copies wait for, or what adds up their sums
    double copies = 0.0;        ///< asynchronous ones that a warp issues in a trip
    double copies_along_k = 0.0;  ///< of them, of rows that go on in the next trip
    bool waits_behind_copies =
        false;                     ///< in a trip, for those of earlier ones: its own have just been issued
    hw::Cycles behind_copies{};    ///< from a trip's last copy to that wait
    double boxes_stored = 0.0;     ///< by the op that stores last, in a trip or an item
    double sent_per_stored = 1.0;  ///< bytes of its whole sectors for each byte
    int warps = 0;
    bool uses_tensor = false;
    hw::Dtype tensor_dtype = hw::Dtype::bf16;
    hw::InplaceVector<machine::BufferTraffic, max_buffers>
        buffers;  ///< by buffer id, as many as the kernel has

    /// trips x loop + before + after of a quantity.
    template <class Get>
    [[nodiscard]] double total(Get&& get) const {
        return get(before) + trips * get(loop) + get(after);
    }
};

}  // namespace warptime::model::analytical
