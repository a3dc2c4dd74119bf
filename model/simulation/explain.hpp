// Full answer of the discrete-event engine, from the counts of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/prediction.hpp"
#include "model/simulation/kernel_time.hpp"
#include "model/simulation/memory_step.hpp"

#include <string>

namespace warptime::model::simulation {

[[nodiscard]] prediction::Prediction explain_kernel(const kernel::Kernel& kernel, const KernelTime& time,
                                                    const hw::Gpu& gpu,
                                                    const prediction::Conditions& conditions);
[[nodiscard]] prediction::Prediction explain_memory_step(const std::string& kind, const std::string& name,
                                                         const MemoryStep& step, const hw::Gpu& gpu);

}  // namespace warptime::model::simulation
