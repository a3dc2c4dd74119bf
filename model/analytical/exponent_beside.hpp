// How an SM's loop and the memories behind it combine where reads of operands set the loop's pace.
// Ignores: loops of other kinds, which keep the exponent that was fitted on them (overlap.hpp).
// Source: Triton's loops of mma.sync over the L2 (triton_bf16, fit rows): CTAs that share an SM read their
// operands by ldmatrix, and while one waits for its copies others go on, so that the more there are the less
// the L2 adds. 32x64x64 with seven CTAs an SM takes 310 cycles a trip with 288 of reads and 246 of the L2's
// way out, by Nsight Compute; loops that the L1 or the port paces wait on the copies' own way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/item_demand.hpp"

#include <cstdint>

namespace warptime::model::analytical {

/// Whether reads by ldmatrix, or products, set the pace of a loop that copies for itself, and not the way on
/// which its copies come.
template <class S>
[[nodiscard]] bool paced_by_reads(const ItemDemand<S>& item) {
    if (!copies_by_lanes(item) || reads_by_wgmma(item)) return false;
    const Server busiest = item.loop.demand.busiest();
    return busiest != Server::l1 && busiest != Server::crossbar_read;
}

/// The exponent with which a kernel's time on its SMs, `resident` CTAs on each, and that of the memories
/// combine.
template <class S>
[[nodiscard]] S exponent_beside(const ItemDemand<S>& item, std::int64_t resident, const hw::Gpu<S>& gpu) {
    const S exponent = gpu.overlap.exponent.value();
    if (resident < 2 || !paced_by_reads(item)) return exponent;
    return exponent * hw::pow(S(static_cast<double>(resident)), gpu.overlap.residents.value());
}

}  // namespace warptime::model::analytical
