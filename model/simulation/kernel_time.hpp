// Time of one simulated kernel, and the band around a simulated time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/band_edges.hpp"
#include "model/prediction/prediction.hpp"
#include "model/simulation/run.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::simulation {

/// A run at the clock that its own tensor load leaves, and the times that follow.
struct KernelTime {
    Run run;
    double clock_hz = 0.0;
    double free_clock_hz = 0.0;                                            ///< without the power limit
    double floor = 0.0;                                                    ///< seconds
    double time = 0.0;                                                     ///< seconds, floor and run
    prediction::Limiter run_limiter = prediction::Limiter::chain_latency;  ///< of the run alone
    prediction::Limiter limiter = prediction::Limiter::launch;             ///< of floor and run
};

/// Time, limiter and the 80 % band. This engine has no residuals yet: the band is a prior, from 1 /
/// prior_factor to prior_factor of the time.
inline constexpr double prior_factor = 1.5;
[[nodiscard]] inline prediction::Estimate with_prior_band(double time, prediction::Limiter limiter) {
    return {time, time / prior_factor, time * prior_factor, limiter};
}

/// The same for a kernel. The band is wider where a part of its instructions is not known exactly. Where its
/// own kind is not recorded by itself, the band is no narrower than the analytical engine's for such kernels.
[[nodiscard]] inline prediction::Estimate with_prior_band(double time, prediction::Limiter limiter,
                                                          const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const double wider = prediction::widening(kernel.coverage);
    const double factor = std::pow(prior_factor, wider);
    prediction::Estimate estimate{time, time / factor, time * factor, limiter};
    estimate.evidence = kernel.evidence;
    if (kernel.evidence != kernel::Evidence::own) {
        const prediction::BandEdges shared = prediction::shared_edges(time, kernel.evidence, wider, gpu);
        estimate.low = std::min(estimate.low, shared.low);
        estimate.high = std::max(estimate.high, shared.high);
    }
    return estimate;
}

}  // namespace warptime::model::simulation
