// Bytes that a kernel moves between SMs, L2 and DRAM, from its schedule, its operands and what the caches
// hold. Ignores: sectors fetched twice by SMs that drift apart, and partial-sector writes. Source:
// model/memory (LRU reuse over waves; write-back of dirty lines). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/memory/l2_places.hpp"
#include "model/prediction/conditions.hpp"

#include <cstdint>

namespace warptime::model::analytical {

template <class S>
struct Traffic {
    hw::Bytes<S> dram_read{};      ///< all reads
    hw::Bytes<S> dram_row_read{};  ///< the part of them in short rows far apart
    hw::Bytes<S> dram_written{};
    hw::Bytes<S> l2_read{};  ///< read requests that the time charges, after merging
    hw::Bytes<S> l2_written{};
    hw::Bytes<S> l2_changed{};  ///< of them, by atomics
    hw::Bytes<S> l2_stored{};   ///< of them, as the slices count them: partly written sectors twice
    hw::Bytes<S> received{};    ///< by all SMs
    hw::Cycles<S> atomics{};    ///< of the L2 slices that carry out atomics
    hw::Bytes<S> passes{};      ///< sectors of their passes
    hw::Bytes<S> returned{};    ///< of those whose old value goes back
    hw::Cycles<S> hot_lines{};  ///< of the slices that have what all items copy at the same time
    hw::Cycles<S> outside{};    ///< of the slices that have what boxes ask for beyond their matrix
    bool from_dram = false;     ///< first touches of the operands miss L2
    double waves = 1.0;         ///< in which the items come
    double fresh_later = 1.0;   ///< share of the items after the first wave that read what no wave has read
    S wait_with_first{1.0};     ///< share of them that wait for DRAM with the first of them to do so
    S own_share{};              ///< of the requests: for lines that no other item of the wave asks for
    S first_readers{};  ///< share of a wave's items that are the first of it to ask for what the L2 has not
    memory::L2Places places;  ///< of what is read again and again from a warm L2
};

class RecentSharedReads;

/// `concurrent`: items in flight at a time. `sms`: that have work. `recent`: what kernels before have asked
/// of the same GPU, if that is kept; read when S is double.
template <class S>
[[nodiscard]] Traffic<S> traffic(const kernel::Kernel& kernel, const ItemDemand<S>& item,
                                 std::int64_t concurrent, const hw::Gpu<S>& gpu,
                                 const prediction::Conditions& conditions, std::int64_t sms = 1 << 20,
                                 RecentSharedReads* recent = nullptr);

/// What a profiler counts of a kernel's traffic; its time needs none of it. Where conditions are cold the
/// profiler has emptied the caches before this kernel, too, and not only before the operation.
template <class S>
struct Lookups {
    hw::Bytes<S> looked_up{};  ///< read requests in every partition they visit, when none merge
    hw::Bytes<S> merged{};     ///< of those, what others take along; of `lookups` only
    hw::Bytes<S> filled{};     ///< lines that come in, in each partition that keeps a copy
    hw::Bytes<S> dram_read{};
    hw::Bytes<S> dram_written{};
};
[[nodiscard]] Lookups<double> lookups(const kernel::Kernel& kernel, const ItemDemand<double>& item,
                                      std::int64_t concurrent, const hw::Gpu<double>& gpu,
                                      const prediction::Conditions& conditions, std::int64_t sms = 1 << 20);

}  // namespace warptime::model::analytical
