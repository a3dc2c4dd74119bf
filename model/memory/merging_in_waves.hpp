// Which of a kernel's read requests merge (request_merging.hpp), wave by wave: who shares a graphics
// processing cluster with others that read the same slice, and who of them is in step. CTAs of the first wave
// lie in the order of the grid and begin 7 cycles apart, so that all of them are in step; later ones begin
// when others end, in step with their neighbours in that order and hardly with others, and some on another
// cluster of SMs than the order says. Persistent CTAs stay where they are; clusters of CTAs, eight pairs of
// them, fill one cluster of SMs after the other. What puts CTAs out of step then is
// the work of others on their SM, waiting for lines of their own from DRAM, and time. Ignores: that the warps
// of mma.sync drift apart more.
// Source: SMs and clocks of the CTAs of tiled loops at each trip, with one to four CTAs an SM and one to
// eight waves, and the sectors of such loops and of Triton's tiles (counters_microbench_request_merging
// tile_loop, counters_triton_bf16; fit and development rows); single waves of the library's clusters
// (counters_gemm_*), which merge 0.48 of 0.5, 0.57 of 0.6, 0.68 and 0.74 of 0.75 where clusters that go round
// would merge a half of it at most. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/memory/request_merging.hpp"
#include "model/occupancy/tile_order.hpp"

#include <cstdint>

namespace warptime::model::memory {

/// Where the readers of an operand are. Counts at least 1.
struct Readers {
    occupancy::TileOrder order;
    occupancy::Dependence slices;  ///< coordinates that tell one slice from another
    GroupRuns runs;
    std::int64_t groups = 1;      ///< clusters of SMs
    std::int64_t in_cluster = 1;  ///< CTAs that the grid keeps together
    bool stay = false;            ///< CTAs take items one after the other
};

/// Of the chip.
struct MergingLaw {
    std::int64_t most = 1;   ///< requests that become one
    double in_place = 1.0;   ///< share of later CTAs on the cluster of SMs of the order
    double strangers = 0.0;  ///< share of what could merge that does, among later CTAs that are no neighbours
};

template <class S>
[[nodiscard]] MergingLaw merging_law(const hw::Gpu<S>& gpu) {
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(hw::value_of(gpu.l2.merge_requests))),
            hw::value_of(gpu.l2.merged_later), hw::value_of(gpu.l2.merged)};
}

/// Requests of each of `readers` neighbours, at least 1, in runs of `run` items of which each is on another
/// cluster of SMs.
[[nodiscard]] double left_in_order(std::int64_t readers, double run, std::int64_t most);

/// The same when each of them may be on any of `groups` clusters.
[[nodiscard]] double left_anywhere(std::int64_t readers, std::int64_t groups, std::int64_t most);

/// Share of all requests that goes when CTAs are in step wherever the law lets them.
[[nodiscard]] double merged_share(const Readers& readers, const MergingLaw& law);

/// Share of that for CTAs that have been put out of step: `others` warps of other CTAs on the SM; `alone`:
/// they wait for lines from DRAM that no other reads; `trips` of their loop, with each of which they drift
/// apart (l2.merge_drift: single waves of 256 to 384 trips merge 0.5 to 0.9 of what they could, of 128 and
/// less 0.8 to 1.0; counters_triton_*).
template <class S>
[[nodiscard]] double share_in_step(double others, bool alone, double trips, const hw::Gpu<S>& gpu) {
    const double of_those_alone = alone ? hw::value_of(gpu.l2.merge_private) : 1.0;
    return 1.0 / (others / hw::value_of(gpu.l2.merge_warps) + trips * hw::value_of(gpu.l2.merge_drift) +
                  1.0 / of_those_alone);
}

}  // namespace warptime::model::memory
