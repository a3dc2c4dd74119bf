// What a kernel keeps busy, as its power counts it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/analysed_kernel.hpp"
#include "model/machine/power/activity.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::analytical {

/// Activity of the whole launch. Reads only those parts of `a` that do not depend on its clock.
[[nodiscard]] machine::Activity activity_of(const Analysis& a, const hw::Gpu& gpu,
                                            prediction::OperandData data);

}  // namespace warptime::model::analytical
