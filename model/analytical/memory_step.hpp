// Time of a program's memsets and device-to-device copies, which the driver runs as kernels or on a copy
// engine. Ignores: copies over PCIe and NVLink. Source: recorded cudaMemcpy and memset durations (fitted keys
// launch.memset, launch.memcpy*); the bytes follow the DRAM and write-back laws of any other kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::analytical {

template <class S>
struct MemoryStepTime {
    hw::Seconds<S> floor{};
    hw::Seconds<S> dram{};
    hw::Seconds<S> time{};
    hw::Bytes<S> dram_read{};
    hw::Bytes<S> dram_written{};
};

template <class S>
[[nodiscard]] MemoryStepTime<S> memset_time(const kernel::Memset& step, const hw::Gpu<S>& gpu,
                                            const prediction::Conditions& conditions);

/// Throws Error for a copy that does not stay on the device.
template <class S>
[[nodiscard]] MemoryStepTime<S> memcpy_time(const kernel::Memcpy& step, const hw::Gpu<S>& gpu,
                                            const prediction::Conditions& conditions);

}  // namespace warptime::model::analytical
