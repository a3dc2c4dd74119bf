// The discrete-event engine: runs the description of a kernel, event by event, on the servers of the chip.
// Ignores: what the heads of run.hpp, chip.hpp and memory_path.hpp list. It is a first version: it shows that
// the description can be executed, and its predictions are not yet compared with measurements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "model/simulation/run.hpp"

#include <memory>

namespace warptime::model::simulation {

/// Unlike the analytical one it allocates in every call of `evaluate`.
[[nodiscard]] std::unique_ptr<prediction::Engine> make_engine();

/// A run at the clock that its own tensor load leaves, and what it adds up to.
struct KernelTime {
    Run run;
    double clock_hz = 0.0;
    double free_clock_hz = 0.0;                                            ///< without the power limit
    double floor = 0.0;                                                    ///< s
    double time = 0.0;                                                     ///< s, floor and run
    prediction::Limiter run_limiter = prediction::Limiter::chain_latency;  ///< of the run alone
    prediction::Limiter limiter = prediction::Limiter::launch;             ///< of floor and run
};
[[nodiscard]] KernelTime simulate(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                                  const prediction::Conditions& conditions);

/// Time, limiter and the 80 % band. There are no residuals of this engine yet: the band is a prior, half as
/// long again or as short.
[[nodiscard]] prediction::Estimate<double> with_prior_band(double time, prediction::Limiter limiter);
inline constexpr double prior_factor = 1.5;

}  // namespace warptime::model::simulation
