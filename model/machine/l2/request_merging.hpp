// Read requests of one GPC for the same sectors merge on their way to the L2.
// An earlier request takes later ones along while its slice works on it, up to l2.merge_requests in all. That
// window is some 50 cycles for lines in L2, and the DRAM latency for others. Any SM of the GPC merges with
// any other, never with SMs of another GPC. Multicast copies never merge: one request already reaches several
// SMs.
// Ignores: which SMs of a GPC share a slot's CTAs.
// Source: Nsight Compute's sectors for bursts by chosen SMs with chosen delays (microbench_request_merging).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::machine {

/// Share of requests left when `readers` SMs of a GPC ask for each line together.
[[nodiscard]] inline double left_of_merged(double readers, const hw::Gpu& gpu) {
    const double most = std::max(1.0, gpu.l2.merge_requests.value());
    return readers <= 1.0 ? 1.0 : std::max(1.0 / readers, 1.0 / most);
}

/// Placement of a wave's items: each GPC gets runs of consecutive items, one item an SM. A GPC has as many
/// runs as CTAs share an SM.
struct GroupRuns {
    double length = 1.0;  ///< items of a run
    double count = 1.0;   ///< runs of a GPC
    double wave = 1.0;    ///< items in flight on the chip
    double step = 1.0;    ///< distance, in items, between two runs of a GPC
};

/// `concurrent`: items in flight on the chip.
[[nodiscard]] inline GroupRuns group_runs(std::int64_t concurrent, const hw::Gpu& gpu) {
    const double sms = gpu.sm.count.value();
    const auto wave = static_cast<double>(concurrent);
    const double length = std::min(wave, sms) / std::max(1.0, gpu.gpc.count.value());
    return {std::max(1.0, length), std::max(1.0, wave / sms), wave, sms};
}

/// Mean number of items of one GPC that read the same slice of an operand at a time.
[[nodiscard]] double readers_in_group(const TileOrder& order, Dependence dependence, const GroupRuns& runs);

/// Mean number of such readers where every `repeat`-th item reads the same slice.
[[nodiscard]] double readers_of_repeated(double repeat, const GroupRuns& runs);

/// Share of possible merges that happen while a kernel waits for the L2. Requests then queue on their way and
/// meet. One CTA an SM merges fully; each warp of another CTA on the SM comes between (key l2.merge_warps).
/// Source: loops of loads through a set that all SMs read (microbench_l2_halves).
[[nodiscard]] inline double in_step_while_waiting(double residents, double warps, const hw::Gpu& gpu) {
    return 1.0 / (1.0 + std::max(0.0, residents - 1.0) * warps / gpu.l2.merge_warps.value());
}

/// Share of possible merges where lanes copy and a CTA's warps meet in every trip. A copy served with
/// another's request brings its CTA nearer to the CTAs ahead. Each meeting of warps puts the CTA off. The
/// copies of a warp in a trip therefore decide; short rows count for their share of a line. Half the requests
/// meet at l2.step_copies copies.
/// `bytes`: copied by a warp in a trip; `line_bytes`: read of each line. Source: clocks of all CTAs in 218
/// loops of microbench_cp_async_rows.
[[nodiscard]] inline double in_step_by_copies(double bytes, double line_bytes, const hw::Gpu& gpu) {
    constexpr double bytes_of_copy = 512.0;
    const double copies = bytes / bytes_of_copy * line_bytes / gpu.l1.line.value();
    return copies / (copies + gpu.l2.step_copies.value());
}

}  // namespace warptime::model::machine
