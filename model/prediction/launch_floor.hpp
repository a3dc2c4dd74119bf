// The floor of a launch: what any kernel takes, whatever it does.
// Source: recorded empty kernels (launch.floor, launch.cold), grids of trivial CTAs and clusters
// (launch.cta_interval, launch.cluster_interval). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
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

/// The driver's copy within the device: its launch, which is recorded after a flush, and its further passes.
template <class S>
[[nodiscard]] hw::Seconds<S> copy_floor(const kernel::Memcpy& copy, Cache cache, const hw::Gpu<S>& gpu) {
    const hw::Seconds<S> launch =
        cache == Cache::warm ? gpu.launch.memcpy - gpu.launch.cold : gpu.launch.memcpy;
    return launch + gpu.launch.memcpy_pass * S(static_cast<double>(copy.passes - 1));
}

/// Between two CTAs that are handed out, over the whole chip; clusters are handed out whole.
template <class S>
[[nodiscard]] hw::Cycles<S> launch_interval(double ctas_per_cluster, const hw::Gpu<S>& gpu) {
    if (ctas_per_cluster <= 1.0) return gpu.launch.cta_interval;
    return hw::max(gpu.launch.cta_interval, gpu.launch.cluster_interval / S(ctas_per_cluster));
}

}  // namespace warptime::model::prediction
