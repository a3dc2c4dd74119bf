// Time of the L2 slices: bytes that all SMs ask for over the slices' total rate.
// Ignores: uneven slices (uneven_slices.hpp).
// Source: recorded reads of footprints below the L2's size by all SMs (fitted key l2.bandwidth). Counters
// follow l2_partitions.hpp and merging_in_waves.hpp; so does the time of CTAs whose warps copy for
// themselves. For other CTAs the time charges 1.5 visits a request and merges pairs (docs/deviations.md, 10).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l2/l2_partitions.hpp"
#include "model/machine/occupancy/groups_at_work.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Share of requests charged in time when one SM of a TPC takes the other's request along. `distinct`: share
/// of a wave's requested bytes that no other CTA of the wave reads. Only kernels with producer warps use it;
/// docs/deviations.md, 10, says why.
[[nodiscard]] inline double unmerged_share(double distinct, const hw::Gpu& gpu) {
    const double one_of = 1.0 / gpu.tpc.sms.value();
    return one_of + (1.0 - one_of) * distinct;
}

/// Ratio of the largest GPC's time to that of an average GPC. GPCs get equal shares of the L2's rate, so each
/// SM of a large GPC gets less. Source: microbench_read_write_mix and bandwidth_in_flight against single SMs
/// of microbench_epilogue.
[[nodiscard]] inline double slowest_group(const hw::Gpu& gpu) {
    const double average = gpu.sm.count.value() / std::max(1.0, gpu.gpc.count.value());
    return std::max(1.0, largest_group(gpu) / average);
}

/// Cycles of the slices for `bytes` requested by all SMs together. Key l2.bandwidth is per SM of the whole
/// chip, measured in the largest GPC.
[[nodiscard]] inline hw::Cycles l2_cycles(const hw::Bytes& bytes, const hw::Gpu& gpu) {
    return bytes / (gpu.l2.bandwidth * gpu.sm.count.value());
}

/// Cycles for `requests` to few lines that all items read at the same time. A step of an operand holds
/// `step_bytes`, in lines of which `line_bytes` are read. This binds where an operand has fewer rows than SMs
/// that ask for them. An example is a tile higher than the matrix, whose excess rows fold onto existing rows.
/// One line is served every l2.hot_interval; SMs that drift apart ask for l2.hot_drift lines of other steps.
/// Half a line spares the slice the service of the other half. Source: docs/mechanisms/evidence.md.
[[nodiscard]] inline hw::Cycles hot_line_cycles(double requests, double step_bytes, double line_bytes,
                                                const hw::Gpu& gpu) {
    if (!(step_bytes > 0.0) || !(line_bytes > 0.0)) return {};
    const double asked = std::max(line_bytes, gpu.l2.access_bytes.value());
    const double spared = std::max(0.0, gpu.l1.line.value() - asked);
    const hw::Cycles interval =
        gpu.l2.hot_interval - hw::Bytes(spared) * gpu.l2.slices.value() / gpu.l2.bandwidth;
    return interval * (requests / (step_bytes / line_bytes + gpu.l2.hot_drift.value()));
}

/// Cycles in which the slices take in `bytes` stored by all SMs together. Key l2.ingest_bandwidth is per SM
/// of the whole chip, in an average GPC; it is half the rate of loads. Source: recorded stores of all SMs,
/// over a clean L2 and a dirty one.
[[nodiscard]] inline hw::Cycles l2_ingest_cycles(const hw::Bytes& bytes, const hw::Gpu& gpu) {
    return bytes / (gpu.l2.ingest_bandwidth * gpu.sm.count.value());
}

/// Cycles of the slices for `read` bytes and for stores of `stores` cycles. The path between partitions
/// limits reads that cross; the slices themselves spend one visit on each. `together`: results leave in the
/// same turns that read, or while other CTAs read, so stores fill the slices' spare time. Otherwise stores
/// follow reads. Source: copies within the L2 (microbench_bandwidth_in_flight); CTAs that replace each other
/// (kernels, star_stencils).
[[nodiscard]] inline hw::Cycles read_and_stored_cycles(const hw::Bytes& read, const hw::Cycles& stores,
                                                       bool together, const hw::Gpu& gpu) {
    const hw::Cycles reads = l2_cycles(read * slice_visits(gpu), gpu);
    return together ? std::max(reads, l2_cycles(read, gpu) + stores) : reads + stores;
}

}  // namespace warptime::model::machine
