// Launch: the rate at which CTAs are handed to SMs, beside the floor of any kernel.
// Source: recorded grids of trivial CTAs (launch.cta_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/launch_floor.hpp"

namespace warptime::model::analytical {

using prediction::launch_floor;

/// Cycles in which `ctas` CTAs of the kernel can be handed out, chip-wide.
template <class S>
[[nodiscard]] hw::Cycles<S> cta_launch_cycles(const kernel::Kernel& kernel, double ctas,
                                              const hw::Gpu<S>& gpu) {
    return prediction::launch_interval(kernel, gpu) * S(ctas);
}

/// How long it takes to hand out all CTAs and run them: `launch` if the slots were always free, `run` if they
/// never waited for a CTA. One queue with think time and `slots` customers, in the limit of many of them
/// (closed_queue.hpp has it exactly): slots = busy x run / launch + busy / (1 - busy), of which `busy` is the
/// share of the time in which the launch unit works. Between the larger of both and their sum.
template <class S>
[[nodiscard]] S handed_out(const S& launch, const S& run, double slots) {
    if (!(S(0.0) < launch)) return run;
    if (!(S(0.0) < run)) return launch;
    const S away = run / launch * S(slots);
    const S half = (away + S(1.0 + slots)) * S(0.5);
    // The smaller root of away busy^2 - 2 half busy + slots.
    const S busy = S(slots) / (half + hw::sqrt(half * half - away * S(slots)));
    return launch / busy;
}

}  // namespace warptime::model::analytical
