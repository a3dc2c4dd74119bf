// The floor of a launch: what any kernel takes, whatever it does.
// Source: recorded empty kernels (launch.floor, launch.cold), grids of trivial CTAs and clusters
// (launch.cta_interval, launch.cluster_interval). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::prediction {

/// Whether some of the kernel's bulk copies need a tensor map; plain rows of bytes need none.
[[nodiscard]] inline bool copies_by_tensor_map(const kernel::Kernel& kernel) {
    return std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::cp_async_bulk_tensor;
    });
}

/// Whether all that it reads has been written by a step before it, so that nothing of that is cold.
[[nodiscard]] inline bool reads_results_only(const kernel::Kernel& kernel) {
    return std::all_of(
        kernel.accesses.begin(), kernel.accesses.end(), [&kernel](const kernel::Access& access) {
            if (access.direction == kernel::Direction::write || access.buffer == kernel::no_id) return true;
            const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
            return buffer.space != kernel::Space::global || buffer.contents == kernel::Contents::written_by;
        });
}

/// From the first activity to the first useful instruction and from the last to completion; after a flush the
/// instructions, constants and descriptors come from DRAM.
/// `tensor_maps`: the kernel loads through tensor maps, which it fetches before the first copy.
template <class S>
[[nodiscard]] hw::Seconds<S> launch_floor(Cache cache, bool tensor_maps, const hw::Gpu<S>& gpu) {
    const hw::Seconds<S> warm = tensor_maps ? gpu.launch.floor + gpu.launch.descriptor : gpu.launch.floor;
    return cache == Cache::warm ? warm : warm + gpu.launch.cold;
}

/// Warps of a CTA, of all its roles.
[[nodiscard]] inline std::int64_t warps_of_cta(const kernel::Kernel& kernel) {
    return (kernel.cta.volume() + 31) / 32;
}

/// The driver's copy within the device: its launch, which is recorded after a flush, and its further passes.
template <class S>
[[nodiscard]] hw::Seconds<S> copy_floor(const kernel::Memcpy& copy, Cache cache, const hw::Gpu<S>& gpu) {
    const hw::Seconds<S> launch =
        cache == Cache::warm ? gpu.launch.memcpy - gpu.launch.cold : gpu.launch.memcpy;
    return launch + gpu.launch.memcpy_pass * S(static_cast<double>(copy.passes - 1));
}

/// Between two CTAs that are handed out, over the whole chip: one turn for every sixteen warps of a CTA, as
/// grids of 768 and 1024 threads show (microbench_cta_launch). Clusters are handed out whole.
template <class S>
[[nodiscard]] hw::Cycles<S> launch_interval(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    const auto warps = static_cast<double>(warps_of_cta(kernel));
    const hw::Cycles<S> alone =
        gpu.launch.cta_interval * S(std::max(1.0, std::ceil(warps / hw::value_of(gpu.launch.cta_warps))));
    const auto together = static_cast<double>(kernel.cluster.volume());
    if (together <= 1.0) return alone;
    return hw::max(alone, gpu.launch.cluster_interval / S(together));
}

/// From the end of a CTA to the start of the next one in its slot, longer with each warp that is set up.
template <class S>
[[nodiscard]] hw::Cycles<S> cta_turnaround(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    return gpu.launch.cta_turnaround +
           gpu.launch.warp_turnaround * S(static_cast<double>(warps_of_cta(kernel)));
}

}  // namespace warptime::model::prediction
