// Puts an analysis into the words of a Prediction: bounds, shares, utilization, counters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/analysis.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::analytical {

[[nodiscard]] prediction::Prediction explain_kernel(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                                                    const prediction::Conditions& conditions);

/// Also of memsets and copies.
[[nodiscard]] prediction::Prediction explain_memory_step(const kernel::Program& program,
                                                         const kernel::Step& step, const hw::Gpu<double>& gpu,
                                                         const prediction::Conditions& conditions);

}  // namespace warptime::model::analytical
