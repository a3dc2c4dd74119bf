// Share of a kernel's read requests that merge, wave by wave: which CTAs of a GPC read the same slice, and
// which stay in step. CTAs of the first wave lie in grid order, begin a few cycles apart, and are all in
// step. Later CTAs begin when others end: in step with neighbours of the order, hardly with others. Some
// later CTAs lie on another GPC than the order says. Persistent CTAs stay on their SM. Clusters of CTAs,
// eight pairs at a time, fill one GPC after the other. Three causes put CTAs out of step: other work on their
// SM, waits for private lines from DRAM, and time.
// Ignores: the greater drift between warps of mma.sync.
// Source: SMs and clocks of CTAs at each trip of tiled loops, and sectors counted by Nsight Compute
// (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l2/request_merging.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <cstdint>

namespace warptime::model::machine {

/// Placement and order of an operand's readers; counts are at least 1.
struct Readers {
    TileOrder order;
    Dependence slices;  ///< coordinates that tell one slice from another
    GroupRuns runs;
    std::int64_t groups = 1;      ///< GPCs of the chip
    std::int64_t in_cluster = 1;  ///< CTAs that the grid keeps together
    bool stay = false;            ///< persistent CTAs, which take one item after the other
};

/// Chip's part of the law.
struct MergingLaw {
    std::int64_t most = 1;  ///< requests that become one at most
    double in_place = 1.0;  ///< share of later CTAs on the GPC that the order gives
    /// share of possible merges that happen between later CTAs that are no neighbours
    double strangers = 0.0;
};

[[nodiscard]] inline MergingLaw merging_law(const hw::Gpu& gpu) {
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(gpu.l2.merge_requests.value())),
            gpu.l2.merged_later.value(), gpu.l2.merged.value()};
}

/// Requests per reader that `readers` neighbours leave, at least 1 reader. Runs of `run` items lie on one GPC
/// each.
[[nodiscard]] double left_in_order(std::int64_t readers, double run, std::int64_t most);

/// Requests per reader when each reader lies on any of `groups` GPCs.
[[nodiscard]] double left_anywhere(std::int64_t readers, std::int64_t groups, std::int64_t most);

/// Share of all requests that merging removes when CTAs are in step wherever the law allows.
[[nodiscard]] double merged_share(const Readers& readers, const MergingLaw& law);

/// Share of possible merges that CTAs out of step still reach. `others`: warps of other CTAs on the SM.
/// `alone`: the CTA waits for DRAM lines that no other CTA reads. `trips`: passes of the loop; CTAs drift
/// apart with each (key l2.merge_drift).
[[nodiscard]] inline double share_in_step(double others, bool alone, double trips, const hw::Gpu& gpu) {
    const double of_those_alone = alone ? gpu.l2.merge_private.value() : 1.0;
    return 1.0 /
           (others / gpu.l2.merge_warps.value() + trips * gpu.l2.merge_drift.value() + 1.0 / of_those_alone);
}

}  // namespace warptime::model::machine
