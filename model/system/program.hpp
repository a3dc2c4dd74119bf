// A program's time on one stream: the sum of its steps' device durations, and the span with the gaps between
// them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"

namespace warptime::model::system {

/// Sum over the steps. The limiter is the longest step's; band edges add.
[[nodiscard]] prediction::Estimate<double> evaluate(const kernel::Program& program,
                                                    const prediction::Engine& engine,
                                                    const hw::Gpu<double>& gpu,
                                                    const prediction::Conditions& conditions,
                                                    prediction::Scratch& scratch);

/// The longest step's explanation with the times, counters and shares of all steps.
[[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const prediction::Engine& engine,
                                             const hw::Gpu<double>& gpu,
                                             const prediction::Conditions& conditions);

}  // namespace warptime::model::system
