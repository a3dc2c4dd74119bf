// Activity of a run, as its power counts it.
// Source: model/machine/power/activity.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/power/activity.hpp"
#include "model/simulation/run.hpp"

namespace warptime::model::simulation {

[[nodiscard]] machine::Activity activity_of(const Run& run, const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                            prediction::OperandData data);

}  // namespace warptime::model::simulation
