// Launch: the rate at which CTAs are handed to SMs, beside the floor of any kernel.
// Source: recorded grids of trivial CTAs (launch.cta_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/launch_floor.hpp"

namespace warptime::model::analytical {

using prediction::launch_floor;

/// Cycles in which `ctas` CTAs can be handed out, chip-wide, in clusters of `cluster`.
template <class S>
[[nodiscard]] hw::Cycles<S> cta_launch_cycles(double ctas, const hw::Gpu<S>& gpu, double cluster = 1.0) {
    return prediction::launch_interval(cluster, gpu) * S(ctas);
}

}  // namespace warptime::model::analytical
