// Puts an analysis into the words of a Prediction: bounds, shares, utilization, counters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/analysed_kernel.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::analytical {

/// Time, limiter and band of an analysed kernel.
[[nodiscard]] prediction::Estimate estimate_of(const Analysis& analysis, const kernel::Kernel& kernel,
                                               const hw::Gpu& gpu);

[[nodiscard]] prediction::Prediction explain_kernel(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                                    const prediction::Conditions& conditions);

/// The same for memsets and copies.
[[nodiscard]] prediction::Prediction explain_memory_step(const kernel::Program& program,
                                                         const kernel::Step& step, const hw::Gpu& gpu,
                                                         const prediction::Conditions& conditions);

}  // namespace warptime::model::analytical
