// The power that a launch takes while it runs: what the board always takes, and the energy of its work over
// time. Dynamic power of the SMs goes with the clock and the square of the supply voltage, which falls in a
// straight line with the clock; that of DRAM goes with its bytes alone. Ignores: temperature, differences
// between boards, and the toggling of real data beyond random or zeros. Source: P = C V^2 f (Weste and
// Harris, CMOS VLSI Design, chapter 5), shares fitted (keys power.*). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/power/activity.hpp"

namespace warptime::model::power {

/// Supply voltage as a part of that at boost. `held`: the clock over the one that this kernel has without a
/// power limit; a clock that falls because the tensor cores work does not lower the voltage.
template <class S>
[[nodiscard]] S voltage(const S& held, const hw::Gpu<S>& gpu) {
    return S(1.0) - gpu.power.voltage_slope.value() * (S(1.0) - held);
}

/// Seconds at the design power that the SMs' work takes as energy, at the voltage of the boost clock.
template <class S>
[[nodiscard]] S work(const Activity<S>& a, const hw::Gpu<S>& gpu) {
    const S tensor =
        hw::bytes_of(a.tensor_dtype) == 1 ? gpu.power.tensor_8bit.value() : gpu.power.tensor.value();
    const S operands = gpu.power.fp32.value() * a.fp32 + gpu.power.fp64.value() * a.fp64 +
                       gpu.power.integer.value() * a.integer + tensor * a.tensor +
                       gpu.power.shared.value() * a.shared;
    const bool zeros = a.data == prediction::OperandData::zeros;
    const S cycles = gpu.power.issue.value() * a.issue + gpu.power.l2.value() * a.l2 +
                     (zeros ? operands * gpu.power.zeros.value() : operands);
    return cycles / gpu.clock.boost.value();
}

/// Average power in W of a launch that takes `time` at `clock`; `held` as above, 1 without a limit.
template <class S>
[[nodiscard]] S watts(const Activity<S>& a, const hw::Seconds<S>& time, const hw::Frequency<S>& clock,
                      const hw::Gpu<S>& gpu, const S& held = S(1.0)) {
    const S v = voltage(held, gpu);
    const S active = gpu.power.active.value() * a.resident * (clock.value() / gpu.clock.boost.value());
    const S dram = gpu.power.dram.value() * (a.dram / gpu.dram.bandwidth).value();
    const S share =
        gpu.power.idle.value() + v * v * (active + work(a, gpu) / time.value()) + dram / time.value();
    return share * gpu.power.tdp.value();
}

}  // namespace warptime::model::power
