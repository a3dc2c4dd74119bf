// The SM clock that a single launch gets: the boost clock, less what tensor work or a
// flush before it takes from it.
// Ignores: the power limit (model/power/ has it), temperature, and the ramp within the first microseconds.
// Source: recorded clock64 against globaltimer and Nsight Compute cycles over durations (fitted keys
// clock.*). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::prediction {

/// `utilization`: FLOP of tensor instructions over the dense peak at that clock, 0 to 1. What the load takes
/// is a drop of the voltage, so operands that switch nothing take as little of it as of the power.
template <class S>
[[nodiscard]] hw::Frequency<S> launch_clock(bool uses_tensor, const S& utilization, const hw::Gpu<S>& gpu,
                                            OperandData data = OperandData::random) {
    if (!uses_tensor) {
        return gpu.clock.boost * gpu.clock.plain;
    }
    const S full = hw::min(S(1.0), utilization);
    const S load = data == OperandData::zeros ? full * gpu.power.zeros.value() : full;
    return gpu.clock.boost * (gpu.clock.tensor_base - gpu.clock.tensor_slope * load);
}

/// Share of the clock without tensor work that a launch of so many seconds gets. Right behind a kernel that
/// has written at DRAM's full rate, as a flush does, the SMs run slower for a while; without one it is 1.
/// Tensor instructions hold the clock below that already, and recorded products show no further drop.
template <class S>
[[nodiscard]] S clock_left(const hw::Seconds<S>& lasts, const Conditions& conditions, const hw::Gpu<S>& gpu) {
    if (conditions.cache != Cache::flushed || conditions.duty != Duty::isolated) return S(1.0);
    const hw::Seconds<S> slow = gpu.clock.flush_recovery;
    const S part = slow < lasts ? (slow / lasts).value() : S(1.0);
    return S(1.0) - (S(1.0) - gpu.clock.after_flush.value()) * part;
}

}  // namespace warptime::model::prediction
