// CTA launch: rate at which CTAs are handed to SMs, beside the floor of any kernel (launch_floor.hpp).
// Ignores: the order in which SMs are filled.
// Source: recorded grids of trivial CTAs (key launch.cta_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/launch/launch_floor.hpp"

#include <cmath>

namespace warptime::model::machine {

/// Cycles in which `ctas` CTAs of the kernel can be handed out, chip-wide.
[[nodiscard]] inline hw::Cycles cta_launch_cycles(const kernel::Kernel& kernel, double ctas,
                                                  const hw::Gpu& gpu) {
    return launch_interval(kernel, gpu) * ctas;
}

/// Time to hand out all CTAs and run them; between the larger of both times and their sum. `launch`: time if
/// slots were always free. `run`: time if slots never waited for a CTA. One queue with think time and many
/// customers `slots`: slots = busy x run / launch + busy / (1 - busy). `busy` is the launch unit's share of
/// busy time; closed_queue.hpp has the exact law.
[[nodiscard]] inline double handed_out(double launch, double run, double slots) {
    if (!(0.0 < launch)) return run;
    if (!(0.0 < run)) return launch;
    const double away = run / launch * slots;
    const double half = (away + (1.0 + slots)) * 0.5;
    // Smaller root of away busy^2 - 2 half busy + slots.
    const double busy = slots / (half + std::sqrt(half * half - away * slots));
    return launch / busy;
}

}  // namespace warptime::model::machine
