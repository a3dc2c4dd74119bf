// What a kernel keeps busy, as its power counts it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/analysis.hpp"
#include "model/power/activity.hpp"

namespace warptime::model::analytical {

/// Of the whole launch. Reads of `a` what does not depend on its clock.
template <class S>
[[nodiscard]] power::Activity<S> activity_of(const Analysis<S>& a, const hw::Gpu<S>& gpu,
                                             prediction::OperandData data);

}  // namespace warptime::model::analytical
