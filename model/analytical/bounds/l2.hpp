// L2 slices: sectors that all SMs ask for over the aggregate rate of the slices.
// Ignores: uneven slices (uneven_slices.hpp).
// Source: recorded reads of footprints below the L2's size by all SMs (fitted key l2.bandwidth), and sector
// counters of recorded GEMMs: a sector homed in the other partition visits two slices the first time, and
// requests of one graphics processing cluster merge (model/memory/request_merging.hpp). Counters follow
// l2_partitions.hpp and merging_in_waves.hpp, and so does the time of CTAs whose warps copy for themselves;
// that of others charges 1.5 visits to every request and merges pairs (validate/DEVIATIONS.md, 10).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/memory/l2_partitions.hpp"
#include "model/occupancy/groups_at_work.hpp"

#include <algorithm>

namespace warptime::model::analytical {

using memory::crossings;
using memory::slice_visits;

/// Share of requests that the time charges where one of the two SMs of a TPC takes the other's along;
/// `distinct`: share of a wave's requested bytes that are not also read by another of its CTAs. What merging
/// there really is (merging_in_waves.hpp) serves the counters, and the time of CTAs whose warps copy for
/// themselves; of products with producers of their own it made gemm_bf16 as good, gemm_fp8 0.4 and gemm_tf32
/// 0.2 points worse (validate/DEVIATIONS.md, 10).
template <class S>
[[nodiscard]] S unmerged_share(const S& distinct, const hw::Gpu<S>& gpu) {
    const S one_of = S(1.0) / gpu.tpc.sms.value();
    return one_of + (S(1.0) - one_of) * distinct;
}

/// How much longer the SMs of the largest graphics processing cluster take than those of an average one:
/// clusters get equal shares of what the L2 gives and takes, whatever their SMs (18 of them get 17 B/cycle
/// each for stores where 16 get 18.7: kernels of microbench_read_write_mix and bandwidth_in_flight against
/// single SMs of microbench_epilogue).
template <class S>
[[nodiscard]] double slowest_group(const hw::Gpu<S>& gpu) {
    const double average = hw::value_of(gpu.sm.count) / std::max(1.0, hw::value_of(gpu.gpc.count));
    return std::max(1.0, occupancy::largest_group(gpu) / average);
}

/// `bytes` requested by all SMs together, over the slices' rate (l2.bandwidth is per SM of the whole chip, in
/// the largest cluster).
template <class S>
[[nodiscard]] hw::Cycles<S> l2_cycles(const hw::Bytes<S>& bytes, const hw::Gpu<S>& gpu) {
    return bytes / (gpu.l2.bandwidth * gpu.sm.count.value());
}

/// `requests` for lines by items that all read the same step of an operand at the same time, a step being
/// `step_bytes` in lines of which `line_bytes` are read. Binds where an operand has fewer rows than there are
/// SMs to ask for them, above all where the rows of a tile beyond the matrix are folded onto those that it
/// has: Triton's loops over matrices of 16, 32, 48, 64, 96 and 128 rows get 28, 31, 36, 40, 50 and 50 of
/// their lines a cycle at most, whatever the tile (triton_bf16, triton_bf16_second), and 35, 42, 43, 43 and
/// 52 halves of lines, which spare the slice the service of the other half. A line is served every
/// l2.hot_interval, while SMs that drift apart ask for l2.hot_drift lines of other steps.
template <class S>
[[nodiscard]] hw::Cycles<S> hot_line_cycles(double requests, double step_bytes, double line_bytes,
                                            const hw::Gpu<S>& gpu) {
    if (!(step_bytes > 0.0) || !(line_bytes > 0.0)) return {};
    const double asked = std::max(line_bytes, hw::value_of(gpu.l2.access_bytes));
    const S spared(std::max(0.0, hw::value_of(gpu.l1.line) - asked));
    const hw::Cycles<S> interval =
        gpu.l2.hot_interval - hw::Bytes<S>(spared) * gpu.l2.slices.value() / gpu.l2.bandwidth;
    return interval * (S(requests) / (S(step_bytes / line_bytes) + gpu.l2.hot_drift.value()));
}

/// `bytes` stored by all SMs together, over the rate at which the slices take them in (l2.ingest_bandwidth,
/// per SM of the whole chip, in an average cluster): recorded stores of all SMs end at half the rate of
/// loads, whether the L2 was clean or dirty.
template <class S>
[[nodiscard]] hw::Cycles<S> l2_ingest_cycles(const hw::Bytes<S>& bytes, const hw::Gpu<S>& gpu) {
    return bytes / (gpu.l2.ingest_bandwidth * gpu.sm.count.value());
}

/// What the slices take for `read` bytes and stores of `stores` cycles. Of reads that cross to another
/// partition the way between them binds, not the slices, whose own time is that of one visit: where results
/// leave in the turns that read (`together`), stores fill the rest. Elsewhere the ones follow the others.
/// Source: copies within the L2 (microbench_bandwidth_in_flight) take 27 to 30 B/cycle of an SM where the sum
/// of both times leaves 24.
template <class S>
[[nodiscard]] hw::Cycles<S> read_and_stored_cycles(const hw::Bytes<S>& read, const hw::Cycles<S>& stores,
                                                   bool together, const hw::Gpu<S>& gpu) {
    const hw::Cycles<S> reads = l2_cycles(read * slice_visits(gpu), gpu);
    return together ? hw::max(reads, l2_cycles(read, gpu) + stores) : reads + stores;
}

}  // namespace warptime::model::analytical
