// The SM clock that a single launch gets: the boost clock, less what tensor work takes from it.
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

}  // namespace warptime::model::prediction
