// Read requests that become one on their way from the SMs of a graphics processing cluster to the L2. An
// earlier request of the cluster for the same sectors takes later ones along while its slice works on it: 50
// cycles for a line that the L2 has, as long as DRAM takes for others, up to four requests in all. Any SM of
// the cluster does, next door or not, none of another cluster, and every way of reading but multicast copies,
// which reach several SMs with one request and never meet another. Ignores: which of the SMs of a cluster
// share a slot's CTAs. Source: Nsight Compute's sectors of bursts by chosen SMs with chosen delays, and the
// SMs of the CTAs of launches (microbench_request_merging burst: one to sixteen readers, 0 to 2000 cycles
// apart). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/occupancy/tile_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::memory {

/// Share of the requests that is left when `readers` SMs of a cluster ask for each line together, and
/// l2.merge_requests become one.
template <class S>
[[nodiscard]] double left_of_merged(double readers, const hw::Gpu<S>& gpu) {
    const double most = std::max(1.0, hw::value_of(gpu.l2.merge_requests));
    return readers <= 1.0 ? 1.0 : std::max(1.0 / readers, 1.0 / most);
}

/// How the items of a wave lie on the chip: a cluster of SMs gets a run of consecutive items, one an SM, and
/// as many such runs as CTAs share an SM.
struct GroupRuns {
    double length = 1.0;  ///< items of a run
    double count = 1.0;   ///< runs of a cluster of SMs
    double wave = 1.0;    ///< items in flight on the chip
    double step = 1.0;    ///< items from a run of a cluster of SMs to its next
};

/// `concurrent`: items in flight.
template <class S>
[[nodiscard]] GroupRuns group_runs(std::int64_t concurrent, const hw::Gpu<S>& gpu) {
    const double sms = hw::value_of(gpu.sm.count);
    const auto wave = static_cast<double>(concurrent);
    const double length = std::min(wave, sms) / std::max(1.0, hw::value_of(gpu.gpc.count));
    return {std::max(1.0, length), std::max(1.0, wave / sms), wave, sms};
}

/// Items of one cluster of SMs that read the same slice of an operand at a time, on average.
[[nodiscard]] double readers_in_group(const occupancy::TileOrder& order, occupancy::Dependence dependence,
                                      const GroupRuns& runs);

/// The same where every `repeat`-th item reads the same.
[[nodiscard]] double readers_of_repeated(double repeat, const GroupRuns& runs);

/// Share of what could merge that does where kernels wait for the L2, which is when it decides their time:
/// requests queue on their way and meet, all of them with one CTA an SM; each warp of others that share the
/// SM comes between (key l2.merge_warps). Source: loops of loads through a set that all SMs read
/// (microbench_l2_halves).
template <class S>
[[nodiscard]] double in_step_while_waiting(double residents, double warps, const hw::Gpu<S>& gpu) {
    return 1.0 / (1.0 + std::max(0.0, residents - 1.0) * warps / hw::value_of(gpu.l2.merge_warps));
}

/// The same where lanes copy and the warps of a CTA meet in every trip. Each copy that finds another's
/// request on its way is served with it, and brings its CTA a little nearer to those before; each meeting,
/// and the turns of others on the SM, put it off. So what counts is how many copies a warp issues in a trip,
/// those of short rows for their share of a line, against a number at which half of them meet: few of CTAs
/// that have their SM to themselves, many of those that share it, two or four. `bytes`: of a warp in a trip;
/// `line_bytes`: of each line. Source: clocks of all CTAs in 218 such loops (2 to 16 copies, rows of 32 to
/// 256 bytes, one to four CTAs an SM, 1 to 33 readers in a cluster of SMs): with rows of 128 bytes 0.8 and
/// 0.95 of what could meet does within 250 cycles with two and four copies of CTAs alone, and 0.3, 0.55, 0.78
/// and 0.85 with 2, 4, 8 and 16 copies of CTAs that share an SM; of one loop it is anything between, and the
/// same the next time or not. The times are those of microbench_cp_async_rows.
template <class S>
[[nodiscard]] double in_step_by_copies(double residents, double bytes, double line_bytes,
                                       const hw::Gpu<S>& gpu) {
    constexpr double bytes_of_copy = 512.0;
    const double copies = bytes / bytes_of_copy * line_bytes / hw::value_of(gpu.l1.line);
    return copies / (copies + hw::value_of(residents > 1.0 ? gpu.l2.step_copies_shared : gpu.l2.step_copies));
}

}  // namespace warptime::model::memory
