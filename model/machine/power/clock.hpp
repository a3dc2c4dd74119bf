// SM clock of a single launch: the boost clock, less drops by tensor work and by a preceding flush.
// Ignores: the power limit (sustained_clock.hpp), temperature, and the ramp within the first microseconds.
// Source: recorded clock64 against globaltimer, and Nsight Compute's cycles over durations (keys clock.*).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Clock of a launch. `utilization`: FLOP of tensor instructions over the dense peak at that clock, 0 to 1.
/// The load drops the voltage, so operands that switch few bits lower the clock as little as the power.
[[nodiscard]] inline hw::Frequency launch_clock(
    bool uses_tensor, double utilization, const hw::Gpu& gpu,
    prediction::OperandData data = prediction::OperandData::random) {
    if (!uses_tensor) {
        return gpu.clock.boost * gpu.clock.plain;
    }
    const double full = std::min(1.0, utilization);
    const double load = data == prediction::OperandData::zeros ? full * gpu.power.zeros.value() : full;
    return gpu.clock.boost * (gpu.clock.tensor_base - gpu.clock.tensor_slope * load);
}

/// Share of the clock without tensor work that a launch of the given duration gets. SMs run slower for a
/// while after a kernel that writes at DRAM's full rate, as a flush does. Without a flush the share is 1.
/// Tensor instructions already hold the clock below that drop; recorded products show no further one.
[[nodiscard]] inline double clock_left(const hw::Seconds& lasts, const prediction::Conditions& conditions,
                                       const hw::Gpu& gpu) {
    if (conditions.cache != prediction::Cache::flushed || conditions.duty != prediction::Duty::isolated)
        return 1.0;
    const hw::Seconds slow = gpu.clock.flush_recovery;
    const double part = slow < lasts ? (slow / lasts).value() : 1.0;
    return 1.0 - (1.0 - gpu.clock.after_flush.value()) * part;
}

}  // namespace warptime::model::machine
