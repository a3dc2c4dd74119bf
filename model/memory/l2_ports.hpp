// The ways between SMs and L2: each SM's port, and the one that the SMs of a graphics processing cluster
// share. Ignores: which SMs of a cluster merge requests for the same line (traffic counts merged bytes), hops
// between the L2 halves, and what SMs of one cluster that has more of them at work than others keep from the
// rest. Source: recorded reads and stores of chosen numbers of SMs: one receives 121 B/cycle, up to five of a
// cluster as much each, more of them 640 together, whatever the other clusters do; lines that several ask for
// come no faster than with all at work (fitted keys l2.sm_bandwidth, l2.group_bandwidth, l2.port_bandwidth,
// l2.write_bandwidth, l2.group_write_bandwidth). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/occupancy/groups_at_work.hpp"

namespace warptime::model::memory {

/// Cycles of an SM's port per byte.
template <class S>
struct PortCosts {
    S own{};     ///< received, and asked for by no other SM
    S shared{};  ///< received by several
    S stored{};
};

/// `at_work`: SMs of the fullest graphics processing cluster that do the same. With all at work the slices of
/// the L2 are as narrow as the clusters' ways and are counted by themselves.
template <class S>
[[nodiscard]] PortCosts<S> port_costs(double at_work, const hw::Gpu<S>& gpu) {
    const S shared = S(1.0) / gpu.l2.port_bandwidth.value();
    const S stored = S(1.0) / gpu.l2.write_bandwidth.value();
    if (at_work >= occupancy::largest_group(gpu)) return {shared, shared, stored};
    return {hw::max(S(1.0) / gpu.l2.sm_bandwidth.value(), S(at_work) / gpu.l2.group_bandwidth.value()),
            shared, hw::max(stored, S(at_work) / gpu.l2.group_write_bandwidth.value())};
}

}  // namespace warptime::model::memory
