// The full answer of the discrete-event engine from what a run counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/prediction.hpp"
#include "model/simulation/engine.hpp"
#include "model/simulation/memory_step.hpp"

#include <string>

namespace warptime::model::simulation {

[[nodiscard]] prediction::Prediction explain_kernel(const kernel::Kernel& kernel, const KernelTime& time,
                                                    const hw::Gpu<double>& gpu,
                                                    const prediction::Conditions& conditions);
[[nodiscard]] prediction::Prediction explain_memory_step(const std::string& kind, const std::string& name,
                                                         const MemoryStep& step, const hw::Gpu<double>& gpu);

}  // namespace warptime::model::simulation
