// What a run kept busy, as its power counts it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/power/activity.hpp"
#include "model/simulation/run.hpp"

namespace warptime::model::simulation {

[[nodiscard]] power::Activity<double> activity_of(const Run& run, const kernel::Kernel& kernel,
                                                  const hw::Gpu<double>& gpu, prediction::OperandData data);

}  // namespace warptime::model::simulation
