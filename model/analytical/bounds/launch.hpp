// Launch: the rate at which CTAs are handed to SMs, beside the floor of any kernel.
// Source: recorded grids of trivial CTAs (launch.cta_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/launch_floor.hpp"

namespace warptime::model::analytical {

using prediction::launch_floor;

/// Cycles in which `ctas` CTAs can be handed out, chip-wide.
template <class S>
[[nodiscard]] hw::Cycles<S> cta_launch_cycles(double ctas, const hw::Gpu<S>& gpu) {
    return gpu.launch.cta_interval * S(ctas);
}

}  // namespace warptime::model::analytical
