// Memsets and device-to-device copies, piece by piece through DRAM behind the driver's fixed cost.
// Ignores: copies over PCIe and NVLink, and what the copy kernels do in the SMs.
// Source: keys launch.memset, launch.memcpy, launch.memcpy_pass; write-back by model/memory/write_back.hpp
// for the bytes so far. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::simulation {

struct MemoryStep {
    double floor = 0.0;  ///< s
    double dram = 0.0;   ///< s
    double read_bytes = 0.0, written_bytes = 0.0;
    [[nodiscard]] double time() const { return floor + dram; }
};

[[nodiscard]] MemoryStep run_memset(const kernel::Memset& step, const hw::Gpu<double>& gpu,
                                    const prediction::Conditions& conditions);
/// Throws Error for a copy that does not stay on the device.
[[nodiscard]] MemoryStep run_memcpy(const kernel::Memcpy& step, const hw::Gpu<double>& gpu,
                                    const prediction::Conditions& conditions);

}  // namespace warptime::model::simulation
