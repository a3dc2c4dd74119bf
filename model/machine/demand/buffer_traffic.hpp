// Bytes that a typical work item moves between its SM and one buffer in L2 or DRAM.
// Ignores: differences between items.
// Source: model/kernel/README.md, Access.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/kernel/access_origin.hpp"
#include "model/machine/demand/reach.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// Part of a buffer, in bytes.
struct Window {
    double first = 0.0, last = 0.0;
    bool still = false;  ///< true if the window never moves: the whole buffer
    [[nodiscard]] double bytes() const { return last - first; }
    [[nodiscard]] Window with(const Window& other) const {
        return {std::min(first, other.first), std::max(last, other.last), still && other.still};
    }
};

/// Work that a typical item's atomics on one buffer ask of the L2.
struct AtomicTraffic {
    double whole = 0.0, part = 0.0;  ///< passes over sectors: every byte changed, or a part
    double returned = 0.0;           ///< passes that return the old value
    double ordered = 0.0;            ///< passes that wait for the previous one in their sector
    double changed = 0.0;            ///< bytes that atomics change, part of the written bytes
    Window window;                   ///< addresses of the atomics under way
    double sectors = 1.0;            ///< sectors of the window
    double waiting = 0.0;            ///< requests for different sectors that wait for one another
    double skewed = 0.0;             ///< passes, if all slices had as many as the fullest one
    /// Passes of the fullest slice, against the mean of all.
    [[nodiscard]] double skew() const { return skewed > whole + part ? skewed / (whole + part) : 1.0; }
};

/// Stores of a typical item to one buffer, as its slices take them in.
struct StoreTraffic {
    double sent = 0.0;  ///< bytes; sectors written in part count twice
    Window window;      ///< addresses of the stores under way
};

/// Accesses of a typical item to one buffer at addresses that follow no order.
struct ScatteredTraffic {
    double read = 0.0;    ///< bytes of read_bytes
    double visits = 0.0;  ///< to lines that bring them
    double span = 0.0;    ///< bytes among which they fall
    double apart = 0.0;   ///< bytes among which those of a warp fall at a time
    double all = 0.0;     ///< all such visits, found in the L1 or not
    double words = 0.0;   ///< bytes that lanes read by all
    double far = 0.0;     ///< visits to lines that were visited so long ago that the L2 may have lost them
    std::uint32_t sectors = 0;   ///< a bit for each sector of a line that such visits ever ask for
    double written_lines = 0.0;  ///< bytes of the lines that stores and atomics touch
    double written_sectors = 0.0;
    double written_apart = 0.0;  ///< bytes among which a warp's stores or atomics fall; 0: they go in order
};

/// Traffic of a typical item with one buffer, and the coordinates on which its place depends.
struct BufferTraffic {
    double read_bytes = 0.0;       ///< with padding; multicast copies count once per receiver
    double written_bytes = 0.0;    ///< inside the buffer
    double sent_bytes = 0.0;       ///< written bytes as sent to L2; partly written sectors count twice
    double looked_up_bytes = 0.0;  ///< of sent_bytes: for sectors read before they change in part
    double fetched_bytes = 0.0;    ///< read requests to L2: multicast counts once
    /// Sectors of the read requests and of the stores, as a profiler counts them. A slice is busy for longer
    /// than a sector takes (fetched_bytes, sent_bytes).
    double sectors_read = 0.0, sectors_written = 0.0;
    hw::Cycles fullest;  ///< of the slice that is asked most, where accesses name a skew
    bool along_m = false, along_n = false, along_batch = false, along_split = false;
    double span_bytes = 0.0;  ///< distinct bytes read, at most
    /// bytes of the lines that the widest strided load or store outside of loops touches
    double strided_read_lines = 0.0, strided_written_lines = 0.0;
    double lost_bytes = 0.0;  ///< read again, after the L2 has lost them to what all CTAs have read meanwhile
    /// of written_bytes: written again by the same CTA, which has touched known bytes meanwhile, and the part
    /// of these that have left the L2 in between
    double again_bytes = 0.0, again_lost = 0.0;
    double again_apart = 0.0;  ///< bytes of DRAM's pieces by which the latter leave, where these lie alone
    /// Bytes of the buffer that accesses of lanes reach over all items; the whole buffer where that is not
    /// known.
    Reach reach;
    bool in_rows = false;  ///< read in rows that are short against their pitch
    ScatteredTraffic scattered;
    bool random = false;        ///< a chase: line by line in an order of its own
    bool shifted = false;       ///< items go round the whole buffer, each from another place
    bool multicast = false;     ///< one request for several receivers
    double repeat = 0.0;        ///< items after which the same bytes come again; 0: as the coordinates say
    double copied_lines = 0.0;  ///< cache lines that lanes request by asynchronous copies
    double line_bytes = 0.0;    ///< requested bytes of each such line
    /// bytes from one trip to the next in each row, where rows continue there; else 0
    double trip_bytes = 0.0;
    double outside_bytes = 0.0;  ///< bytes of boxes beyond the end of the buffer
    /// bytes that its copies ask the L2 to fetch from DRAM at once; 0: DRAM's least piece
    double brought_bytes = 0.0;
    /// bytes of sectors that stores of lanes cover in part, each time that one does
    double parted_bytes = 0.0;
    AtomicTraffic atomics;
    StoreTraffic stores;
};

/// Notes the schedule's coordinates on which the place of an access depends.
inline void note_dependence(const kernel::AccessOrigin& origin, BufferTraffic& traffic) {
    traffic.along_m = traffic.along_m || origin.along_m;
    traffic.along_n = traffic.along_n || origin.along_n;
    traffic.along_batch = traffic.along_batch || origin.along_batch;
    traffic.along_split = traffic.along_split || origin.along_split;
    traffic.shifted = traffic.shifted || origin.shifted;
    if (origin.repeat > 0.0) traffic.repeat = origin.repeat;
}

}  // namespace warptime::model::machine
