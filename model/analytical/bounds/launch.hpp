// Launch: the floor of any kernel and the rate at which CTAs are handed to SMs.
// Source: recorded empty kernels (launch.floor, launch.cold) and grids of trivial CTAs (launch.cta_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::analytical {

/// From the first activity to the first useful instruction and from the last to completion; after a flush the
/// instructions, constants and descriptors come from DRAM.
/// `bulk_copies`: the kernel loads through tensor maps, which it fetches before the first copy.
template <class S>
[[nodiscard]] hw::Seconds<S> launch_floor(prediction::Cache cache, bool bulk_copies, const hw::Gpu<S>& gpu) {
    const hw::Seconds<S> warm = bulk_copies ? gpu.launch.floor + gpu.launch.descriptor : gpu.launch.floor;
    return cache == prediction::Cache::warm ? warm : warm + gpu.launch.cold;
}

/// Cycles in which `ctas` CTAs can be handed out, chip-wide.
template <class S>
[[nodiscard]] hw::Cycles<S> cta_launch_cycles(double ctas, const hw::Gpu<S>& gpu) {
    return gpu.launch.cta_interval * S(ctas);
}

}  // namespace warptime::model::analytical
