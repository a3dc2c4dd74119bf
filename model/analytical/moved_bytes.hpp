// Bytes that a kernel moves between SMs, L2 and DRAM, and the bytes that a profiler would count.
// Ignores: what traffic.hpp lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "hw/small_vector.hpp"
#include "model/machine/atomics/atomic_service.hpp"
#include "model/machine/dram/first_visits.hpp"
#include "model/machine/l2/l2_places.hpp"

#include <cstddef>

namespace warptime::model::analytical {

/// Number of buffers that need no allocation.
inline constexpr std::size_t usual_buffers = 16;

/// Where plain loads of a buffer find what the L1 does not hold.
struct LoadWaits {
    double first = 1.0;  ///< share of the loads that are the first in their wave to touch their bytes
    double fresh = 1.0;  ///< share of the waves whose first loads find their bytes in DRAM only
};

/// By buffer id. Empty: all loads wait for DRAM.
using WaitsByBuffer = hw::SmallVector<LoadWaits, usual_buffers>;

struct Traffic {
    hw::Bytes dram_read{};            ///< all reads
    hw::Bytes dram_row_read{};        ///< reads in short rows far apart
    hw::Bytes dram_scattered_read{};  ///< reads of pieces that lie alone
    hw::Bytes dram_written{};
    hw::Bytes dram_scattered_written{};  ///< of `dram_written`: pieces that lie alone
    hw::Bytes dram_written_padding{};    ///< part of the writes beside sectors that leave alone; not counted
    hw::Bytes dram_padding{};  ///< part of both directions that fills its piece of the bus and is not counted
    hw::Bytes l2_read{};       ///< read requests that the time charges, after merging
    hw::Bytes l2_written{};
    hw::Bytes dirtied{};          ///< part of `l2_written` that can leave the L2
    hw::Bytes l2_stored{};        ///< `l2_written` as the slices count it: partly written sectors twice
    hw::Bytes sectors_written{};  ///< sectors of plain and bulk stores, whole or in part
    hw::Bytes received{};         ///< by all SMs
    machine::AtomicTime atomics;  ///< of all items
    hw::Bytes passes{};           ///< sectors of the atomics' passes
    hw::Bytes returned{};         ///< sectors of passes whose old value goes back
    /// Time of the slices that hold the lines which all items copy at the same time.
    hw::Cycles hot_lines{};
    /// Time of the slice that holds the words to which all warps store, beyond its part of all else.
    hw::Cycles hot_words{};
    /// The same of the slice that is asked most, where loads and stores name a skew.
    hw::Cycles fullest{};
    /// Time of the slices that serve the parts of boxes beyond their matrix.
    hw::Cycles outside{};
    machine::FirstVisits first_visits;  ///< of the scattered set of which they bring most
    bool from_dram = false;             ///< first touches of the operands miss L2
    double waves = 1.0;                 ///< number of waves in which the items come
    /// Share of the items after the first wave that read bytes no earlier wave has read.
    double fresh_later = 1.0;
    /// Share of items with the same reads that wait for DRAM together with the first such item.
    double wait_with_first = 1.0;
    /// Share of the requests for lines that no other item of the wave asks for.
    double own_share = 0.0;
    /// Share of a wave's items that are the first in the wave to ask for bytes absent from the L2.
    double first_readers = 0.0;
    WaitsByBuffer waits;       ///< of plain loads, where other CTAs bring some of their lines
    machine::L2Places places;  ///< of bytes that are read again and again from a warm L2
};

/// Counts that a profiler gives of a kernel's traffic. The predicted time does not use the counts. Under cold
/// conditions the profiler has emptied the caches before this kernel, too, and not only before the operation.
struct Lookups {
    hw::Bytes looked_up{};  ///< read requests in every partition that they visit, before any merge
    hw::Bytes merged{};     ///< requests that merge with others; set by `lookups` only
    hw::Bytes filled{};     ///< lines that come in, in each partition that keeps a copy
    hw::Bytes dram_read{};
    hw::Bytes dram_written{};
    hw::Bytes dram_scattered_written{};  ///< of `dram_written`: pieces that lie alone
};
}  // namespace warptime::model::analytical
