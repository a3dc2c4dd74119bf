// Bytes that a kernel moves between SMs, L2 and DRAM, and what a profiler would count.
// Ignores: what traffic.hpp lists. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/machine/l2/l2_places.hpp"

namespace warptime::model::analytical {

struct Traffic {
    hw::Bytes dram_read{};      ///< all reads
    hw::Bytes dram_row_read{};  ///< the part of them in short rows far apart
    hw::Bytes dram_written{};
    hw::Bytes l2_read{};  ///< read requests that the time charges, after merging
    hw::Bytes l2_written{};
    hw::Bytes l2_changed{};    ///< of them, by atomics
    hw::Bytes l2_stored{};     ///< of them, as the slices count them: partly written sectors twice
    hw::Bytes received{};      ///< by all SMs
    hw::Cycles atomics{};      ///< of the L2 slices that carry out atomics
    hw::Bytes passes{};        ///< sectors of their passes
    hw::Bytes returned{};      ///< of those whose old value goes back
    hw::Cycles hot_lines{};    ///< of the slices that have what all items copy at the same time
    hw::Cycles outside{};      ///< of the slices that have what boxes ask for beyond their matrix
    bool from_dram = false;    ///< first touches of the operands miss L2
    double waves = 1.0;        ///< in which the items come
    double fresh_later = 1.0;  ///< share of the items after the first wave that read what no wave has read
    double wait_with_first = 1.0;  ///< share of them that wait for DRAM with the first of them to do so
    double own_share = 0.0;        ///< of the requests: for lines that no other item of the wave asks for
    double first_readers =
        0.0;  ///< share of a wave's items that are the first of it to ask for what the L2 has not
    machine::L2Places places;  ///< of what is read again and again from a warm L2
};

/// What a profiler counts of a kernel's traffic; its time needs none of it. Where conditions are cold the
/// profiler has emptied the caches before this kernel, too, and not only before the operation.
struct Lookups {
    hw::Bytes looked_up{};  ///< read requests in every partition they visit, when none merge
    hw::Bytes merged{};     ///< of those, what others take along; of `lookups` only
    hw::Bytes filled{};     ///< lines that come in, in each partition that keeps a copy
    hw::Bytes dram_read{};
    hw::Bytes dram_written{};
};
}  // namespace warptime::model::analytical
