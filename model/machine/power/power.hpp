// Power of a running launch: the board's constant part, plus the energy of its work over time.
// Dynamic power of the SMs goes with the clock and the square of the supply voltage. The voltage falls as
// fast as the clock. DRAM power goes with its bytes alone. Ignores: temperature, differences between boards,
// the toggling of real data beyond random or zeros, and that 4-bit types take less than 8-bit ones. Source: P
// = C V^2 f (Weste and Harris, CMOS VLSI Design, chapter 5); shares fitted (keys power.*). Half the energy
// for 8-bit products: at twice the rate a share of their own was fitted to 0.945 +- 0.10, beside 1.006 of
// 16-bit ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/power/activity.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Power of busy tensor cores as a share of the design power. A product of 8-bit types takes half the energy
/// of one of 16-bit types.
[[nodiscard]] inline double tensor_power(hw::Dtype dtype, const hw::Gpu& gpu) {
    const double wide = std::max(gpu.tensor.bf16, gpu.tensor.fp16).value();
    if (hw::bytes_of(dtype) != 1 || !(wide > 0.0)) return gpu.power.tensor.value();
    return gpu.power.tensor.value() * 0.5 * std::max(gpu.tensor.int8, gpu.tensor.fp8).value() / wide;
}

/// Power of busy fp32 lanes as a share of the design power. The lanes of an instruction take as much as its
/// issue; recorded loads do not tell the two apart.
[[nodiscard]] inline double fp32_power(const hw::Gpu& gpu) {
    constexpr double lanes_of_warp = 32.0;
    return gpu.power.issue.value() * gpu.fp32.lanes.value() / (lanes_of_warp * gpu.sm.sub_partitions.value());
}

/// Energy of the SMs' work at the voltage of the boost clock, in seconds at the design power.
[[nodiscard]] inline double work(const Activity& a, const hw::Gpu& gpu) {
    const double operands =
        fp32_power(gpu) * a.fp32 + gpu.power.fp64.value() * a.fp64 + gpu.power.integer.value() * a.integer +
        tensor_power(a.tensor_dtype, gpu) * a.tensor + gpu.power.shared.value() * a.shared;
    const bool zeros = a.data == prediction::OperandData::zeros;
    const double cycles = gpu.power.issue.value() * a.issue + gpu.power.l2.value() * a.l2 +
                          (zeros ? operands * gpu.power.zeros.value() : operands);
    return cycles / gpu.clock.boost.value();
}

/// Average power in W of a launch that takes `time`. `held`: the clock over this kernel's clock without a
/// power limit, and so the supply voltage over that at boost; 1 without a limit. A clock that falls because
/// of tensor work does not lower the voltage.
[[nodiscard]] inline double watts(const Activity& a, const hw::Seconds& time, const hw::Gpu& gpu,
                                  double held = 1.0) {
    const double dram = gpu.power.dram.value() * (a.dram / gpu.dram.bandwidth).value();
    const double share = gpu.power.idle.value() + (held * held * work(a, gpu) + dram) / time.value();
    return share * gpu.power.tdp.value();
}

}  // namespace warptime::model::machine
