// Launch floor: time that any kernel takes, whatever its work.
// Ignores: the host's side of a launch, and that clusters are handed out whole.
// Source: recorded empty kernels (launch.floor, launch.cold), grids of trivial CTAs (launch.cta_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/dram/dram.hpp"
#include "model/prediction/conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::machine {

/// True if some of the kernel's bulk copies need a tensor map; plain rows of bytes need none.
[[nodiscard]] inline bool copies_by_tensor_map(const kernel::Kernel& kernel) {
    return std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::cp_async_bulk_tensor;
    });
}

/// Bytes that DRAM has under way when it is busy all the time: rate times latency (Little's law).
[[nodiscard]] inline hw::Bytes dram_under_way(const hw::Gpu& gpu) {
    return data_rate(gpu) * gpu.dram.read_efficiency * (gpu.latency.dram / gpu.clock.boost);
}

/// Share of launch.cold that a kernel pays which reads `bytes` from DRAM: all of it from as many bytes on as
/// keep DRAM busy.
[[nodiscard]] inline double cold_share(const hw::Bytes& bytes, const hw::Gpu& gpu) {
    const double busy = dram_under_way(gpu).value();
    return busy > bytes.value() ? bytes.value() / busy : 1.0;
}

/// Time before the first useful instruction and after the last one. `read`: bytes from DRAM; the SM that is
/// served last waits longer than most. `tensor_maps`: the kernel fetches tensor maps before its first copy,
/// and these are cold whatever it reads.
[[nodiscard]] inline hw::Seconds launch_floor(prediction::Cache cache, bool tensor_maps,
                                              const hw::Bytes& read, const hw::Gpu& gpu) {
    const hw::Seconds warm = tensor_maps ? gpu.launch.floor + gpu.launch.descriptor : gpu.launch.floor;
    if (cache == prediction::Cache::warm) return warm;
    return warm + gpu.launch.cold * (tensor_maps ? 1.0 : cold_share(read, gpu));
}

/// The share of launch.cold that a kernel pays over warm caches from which other launches have pushed a part
/// of its operands. They have pushed out no more than they have brought.
[[nodiscard]] inline hw::Seconds cold_after_others(const prediction::Conditions& conditions,
                                                   const hw::Bytes& read, const hw::Gpu& gpu) {
    if (conditions.cache != prediction::Cache::warm) return hw::Seconds{};
    return gpu.launch.cold * cold_share(std::min(read, hw::Bytes(conditions.between)), gpu);
}

/// Warps of a CTA over all its roles.
[[nodiscard]] inline std::int64_t warps_of_cta(const kernel::Kernel& kernel) {
    return (kernel.cta.volume() + 31) / 32;
}

/// Launch of the driver's copy within the device, recorded after a flush, and its further passes.
[[nodiscard]] inline hw::Seconds copy_floor(const kernel::Memcpy& copy, prediction::Cache cache,
                                            const hw::Gpu& gpu) {
    const double cold =
        cache == prediction::Cache::warm ? 0.0 : cold_share(hw::Bytes(static_cast<double>(copy.bytes)), gpu);
    const hw::Seconds launch = std::max(hw::Seconds{}, gpu.launch.memcpy - gpu.launch.cold * (1.0 - cold));
    return launch + gpu.launch.memcpy_pass * static_cast<double>(copy.passes - 1);
}

/// Cycles between two CTAs handed out, over the whole chip: one turn for every sixteen warps of a CTA.
/// Source: grids of 768 and 1024 threads a CTA (microbench_cta_launch).
[[nodiscard]] inline hw::Cycles launch_interval(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const auto warps = static_cast<double>(warps_of_cta(kernel));
    return gpu.launch.cta_interval * std::max(1.0, std::ceil(warps / gpu.launch.cta_warps.value()));
}

/// Cycles from the end of a CTA to the start of the next one in its slot; longer with each warp to set up.
[[nodiscard]] inline hw::Cycles cta_turnaround(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    return gpu.launch.cta_turnaround + gpu.launch.warp_turnaround * static_cast<double>(warps_of_cta(kernel));
}

}  // namespace warptime::model::machine
