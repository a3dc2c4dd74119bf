// What one work item asks of every server, split into the parts before, in and after its main loop.
// Ignores: differences between items (edge tiles count at their average), and L1 hits on what another item
// read. Source: KERNEL, meaning 1-6; property-tested against the reference walk. SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/access_origin.hpp"
#include "model/analytical/bounds/atomics.hpp"
#include "model/analytical/inplace_vector.hpp"
#include "model/analytical/server.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/row_sectors.hpp"

#include <array>
#include <cstddef>

namespace warptime::model::analytical {

/// One part of an item. Demand is of the whole CTA, for one trip of the loop (or once, outside it).
template <class S>
struct Part {
    Demand<S> demand;
    hw::Cycles<S> chain{};      ///< latency of the longest dependent path of one warp
    double instructions = 0.0;  ///< machine warp-instructions
    double code = 0.0;          ///< machine instructions of the text, each once
    double flop = 0.0;          ///< of matrix and fused multiply-add instructions
    double tensor_flop = 0.0;
    double received_bytes = 0.0;  ///< global bytes that arrive at the SM
    double sent_bytes = 0.0;      ///< global bytes that leave it
    double fetched_bytes = 0.0;   ///< read requests to L2 (multicast counts once)
    double branches = 0.0;        ///< taken by each warp
    double runs = 0.0;            ///< of instructions without a wait between them, of one warp
    double run_slots = 0.0;       ///< that they take
    double load_rounds = 0.0;     ///< times that a warp waits for plain loads that went out together
    hw::Cycles<S> copied{};       ///< of the L1's, lanes' copies of whole rows
    hw::Cycles<S> queued{};       ///< by asynchronous products until the last of each op has been taken
};

/// What a typical item moves from and to one buffer, and the coordinates that its place depends on.
struct BufferTraffic {
    double read_bytes = 0.0;     ///< with padding, multicast copies included once per receiver
    double written_bytes = 0.0;  ///< inside the buffer
    double sent_bytes = 0.0;     ///< of them to L2, sectors written in part counting twice
    double fetched_bytes = 0.0;  ///< read requests to L2: multicast counts once
    bool along_m = false, along_n = false, along_batch = false, along_split = false;
    double span_bytes = 0.0;     ///< distinct bytes read, at most
    bool in_rows = false;        ///< read in rows that are short against their pitch
    bool random = false;         ///< a chase: in an order of its own, line by line
    bool shifted = false;        ///< items go round the whole buffer, each from another place
    bool multicast = false;      ///< one request for several receivers
    double repeat = 0.0;         ///< items after which the same bytes come again; 0: as the coordinates say
    double copied_lines = 0.0;   ///< cache lines that lanes ask for with asynchronous copies
    double line_bytes = 0.0;     ///< of each of them that are asked for
    double trip_bytes = 0.0;     ///< of each row from a trip to the next, where rows go on there; else 0
    double outside_bytes = 0.0;  ///< of boxes, beyond the end of the buffer
    double outside_own_bytes = 0.0;  ///< of them, beside columns that no other item reads
    double brought_bytes = 0.0;  ///< that its copies ask the L2 to bring along from DRAM; 0: what that gives
    AtomicTraffic atomics;
};
inline constexpr std::size_t max_buffers = 16;

template <class S>
struct ItemDemand {
    Part<S> before, loop, after;
    double trips = 0.0;        ///< of the main loop
    bool alternating = false;  ///< consumer instances take items in turn: `after` hides behind the next item
    int alternating_instances = 1;
    bool in_turn = false;        ///< a token orders them, item by item
    bool asynchronous = false;   ///< loads of the loop run ahead of their use
    bool self_fed = false;       ///< the warps that multiply also issue the copies, in one instruction stream
    bool gathers = false;        ///< its stage is loaded element by element (memory/row_lanes.hpp)
    bool loads_itself = false;   ///< warps that multiply, or stage in shared memory, load for themselves
    bool keeps_local = false;    ///< warps load what they keep in local memory
    bool swaps_shared = false;   ///< warps wait for what atomics on shared memory give back
    Demand<S> peeled{};          ///< of the loop, cycles an item that roles with fewer trips do not take
    hw::Cycles<S> copy_issue{};  ///< from the begin of a trip until its copies have been issued
    hw::Cycles<S> until_wait{};  ///< from the begin of a trip to its wait for copies of earlier ones
    hw::Cycles<S> others_read{};  ///< what all warps' reads before a trip's first copy take beyond a warp's
    hw::Cycles<S> multiplied{};   ///< by products that a trip's copies wait for, or what adds up their sums
    double copies = 0.0;          ///< asynchronous ones that a warp issues in a trip
    double copies_along_k = 0.0;  ///< of them, of rows that go on in the next trip
    bool waits_behind_copies =
        false;                      ///< in a trip, for those of earlier ones: its own have just been issued
    hw::Cycles<S> behind_copies{};  ///< from a trip's last copy to that wait
    double boxes_stored = 0.0;      ///< by the op that stores last, in a trip or an item
    double sent_per_stored = 1.0;   ///< bytes of its whole sectors for each byte
    int warps = 0;
    bool uses_tensor = false;
    hw::Dtype tensor_dtype = hw::Dtype::bf16;
    InplaceVector<BufferTraffic, max_buffers> buffers;  ///< by buffer id, as many as the kernel has

    /// trips x loop + before + after of a quantity.
    template <class Get>
    [[nodiscard]] double total(Get&& get) const {
        return get(before) + trips * get(loop) + get(after);
    }
};

/// Into one that is still empty. `load_latency`: of global loads, as the caches stand. `resident`: CTAs that
/// share an SM. No allocation.
template <class S>
void add_item_demand(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const hw::Cycles<S>& load_latency,
                     std::int64_t resident, ItemDemand<S>& empty);

template <class S>
[[nodiscard]] ItemDemand<S> item_demand(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu,
                                        const hw::Cycles<S>& load_latency, std::int64_t resident = 1) {
    ItemDemand<S> result;
    add_item_demand(kernel, gpu, load_latency, resident, result);
    return result;
}

/// Bytes of one access by one execution of its op, averaged over the items: `full` with padding, `inside`
/// without.
struct AccessBytes {
    double full = 0.0;
    double inside = 0.0;
    double rows = 1.0;  ///< contiguous rows of a collective box
    double row_bytes = 0.0;
    std::int64_t pitch_bytes = 0;
    bool continued = false;  ///< rows go on in the next trip of a loop

    /// The same rows as lanes' copies of 16 bytes (and no fewer, past the L1) are served: on sector
    /// boundaries.
    [[nodiscard]] AccessBytes on_sectors(double sector) const;
};
[[nodiscard]] AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access);
/// The same where `origin`, that of the access, is known.
[[nodiscard]] AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access,
                                       const AccessOrigin& origin);

/// What is sent for each byte of rows that `op` stores; bulk stores leave shared memory line by line.
template <class S>
[[nodiscard]] double sent_per_byte(const kernel::Op& op, const AccessBytes& bytes, const hw::Gpu<S>& gpu) {
    if (!(bytes.rows > 0.0)) return 1.0;
    const bool in_bulk = op.cls == hw::InstructionClass::cp_async_bulk_store;
    return memory::stored_per_byte(bytes.row_bytes, bytes.pitch_bytes, hw::value_of(gpu.l1.sector),
                                   in_bulk ? hw::value_of(gpu.l1.line) : 0.0);
}

/// Adds the coordinates of the schedule that an access's place depends on.
void note_dependence(const AccessOrigin& origin, BufferTraffic& traffic);

}  // namespace warptime::model::analytical
