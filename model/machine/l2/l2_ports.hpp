// Paths between SMs and L2: each SM's own port, and the path that the SMs of a GPC share.
// Ignores: merged requests for the same line (traffic counts merged bytes), hops between partitions, and
// unequal GPCs.
// Source: recorded reads and stores of chosen numbers of SMs; keys l2.sm_bandwidth, l2.group_bandwidth,
// l2.port_bandwidth, l2.write_bandwidth and l2.group_write_bandwidth.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/occupancy/groups_at_work.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Cycles of an SM's port per byte.
struct PortCosts {
    double own = 0.0;     ///< received, and asked for by no other SM
    double shared = 0.0;  ///< received by several SMs
    double stored = 0.0;
};

/// Port costs while `at_work` SMs of the fullest GPC do the same. With all SMs at work the L2 slices limit as
/// much as the GPC's path; l2.hpp counts them.
[[nodiscard]] inline PortCosts port_costs(double at_work, const hw::Gpu& gpu) {
    const double shared = 1.0 / gpu.l2.port_bandwidth.value();
    const double stored = 1.0 / gpu.l2.write_bandwidth.value();
    if (at_work >= largest_group(gpu)) return {shared, shared, stored};
    return {std::max(1.0 / gpu.l2.sm_bandwidth.value(), at_work / gpu.l2.group_bandwidth.value()), shared,
            std::max(stored, at_work / gpu.l2.group_write_bandwidth.value())};
}

}  // namespace warptime::model::machine
