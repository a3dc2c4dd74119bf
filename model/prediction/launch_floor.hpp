// The floor of a launch: what any kernel takes, whatever it does.
// Source: recorded empty kernels (launch.floor, launch.cold).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::prediction {

/// From the first activity to the first useful instruction and from the last to completion; after a flush the
/// instructions, constants and descriptors come from DRAM.
/// `bulk_copies`: the kernel loads through tensor maps, which it fetches before the first copy.
template <class S>
[[nodiscard]] hw::Seconds<S> launch_floor(Cache cache, bool bulk_copies, const hw::Gpu<S>& gpu) {
    const hw::Seconds<S> warm = bulk_copies ? gpu.launch.floor + gpu.launch.descriptor : gpu.launch.floor;
    return cache == Cache::warm ? warm : warm + gpu.launch.cold;
}

}  // namespace warptime::model::prediction
